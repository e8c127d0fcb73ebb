"""Programs that manage a repository's hooks: how they are known, and what to add to their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evalgate.repo.hook_script import quoted

_PRE_COMMIT: Final = """\
- repo: local
  hooks:
    - id: evalgate
      name: evalgate
      entry: {line}
      language: system
      stages: [pre-push]
      always_run: true
      pass_filenames: false
      require_serial: true
      verbose: true
# and once: {name} install -t pre-push"""
_LEFTHOOK: Final = """\
pre-push:
  commands:
    evalgate:
      run: {line}
      use_stdin: true
# and once: lefthook install"""
_PREK: Final = """\
[[repos]]
repo = "local"
hooks = [{{ id = "evalgate", name = "evalgate", language = "system", entry = "{line}",
  stages = ["pre-push"], always_run = true, pass_filenames = false, verbose = true }}]
# and once: prek install -t pre-push"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """One of them: its name, its file in this repository, and how its entries look."""

    name: str
    file: str
    entry: str

    def snippet(self, prefix: str) -> str:
        """Return what to add, for the project at that folder."""
        words = {"husky": ('"$@"',), "lefthook": ("{1}", "{2}")}.get(self.name, ())
        return self.entry.format(line=hook_line(prefix, *words), name=self.name)


#: Of those with files in one repository the first has its hooks.
_KNOWN: Final = (
    ("husky", (".husky/pre-push", ".husky"), "{line}"),
    ("lefthook", tuple(f"{dot}lefthook.{end}" for dot in ("", ".") for end in
        ("yml", "yaml", "toml", "json", "jsonc")), _LEFTHOOK),
    ("prek", ("prek.toml",), _PREK),
    ("pre-commit", (".pre-commit-config.yaml",), _PRE_COMMIT),
)  # fmt: skip


def manager_of(top: Path) -> Manager | None:
    """Return who manages the hooks of the repository at ``top``, None if nobody does."""
    for name, files, entry in _KNOWN:
        for file in files:
            if (top / file).exists():
                return Manager(name=name, file=file, entry=entry)
    return None


def hook_line(prefix: str, *words: str) -> str:
    """Return the command that judges a push, for hooks that others write; no path of a machine."""
    project = ("--project", quoted(prefix)) if prefix != "." else ()
    return " ".join(("evalgate hook run", *project, *words))

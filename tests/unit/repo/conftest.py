"""A real repository in a temporary directory, and the state it must be left in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evalgate.repo.git import Git
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import Entry, open_tree


@dataclass
class Work:
    """A repository driven as a person would drive it."""

    path: Path
    clock: int = 1_700_000_000
    environ: dict[str, str] = field(default_factory=dict)

    def git(self, *args: str, ok: Sequence[int] = (0,)) -> str:
        """Run git here and return its output as text."""
        env = {**os.environ, **self.environ}
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=env, capture_output=True, check=False
        )
        assert done.returncode in ok, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, name: str | bytes, data: str | bytes = "text\n") -> Path:
        """Write a file, its directories too."""
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def commit(self, files: Mapping[str, str | bytes] | None = None, message: str = "work") -> str:
        """Write files, commit everything, return the commit id."""
        for name, data in (files or {}).items():
            self.write(name, data)
        self.git("add", "-A")
        return self.commit_staged(message)

    def commit_staged(self, message: str = "work") -> str:
        """Commit the index; every commit has a second of its own."""
        self.clock += 1
        date = f"{self.clock} +0000"
        self.environ |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.oid("HEAD")

    def oid(self, rev: str) -> str:
        """Return the object id of a revision."""
        return self.git("rev-parse", "--verify", rev)

    def locate(self, **environ: str) -> Git:
        """Find this repository, with more variables in the environment."""
        return Git.locate(self.path, environ={**os.environ, **environ})

    def entries(
        self, subject: str = "HEAD", globs: Sequence[str] = ("**",), root: str = ""
    ) -> tuple[Entry, ...]:
        """List what the globs match in a subject."""
        paths = to_pathspecs(globs, root=root)
        with open_tree(self.locate(), Subject.parse(subject), paths=paths) as view:
            return view.entries(globs, root=root)

    def state(self) -> object:
        """Return all of the repository a reader must leave alone."""
        kept = [self.path / ".git" / name for name in ("index", "HEAD", "packed-refs")]
        files = sorted(str(path) for path in (self.path / ".git").rglob("*"))
        data = [path.read_bytes() if path.exists() else b"" for path in kept]
        return data, files, self.git("count-objects", "-v"), self.git("for-each-ref")


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's configuration and an outer hook's variables out."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for kind in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{kind}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{kind}_EMAIL", "person@example.invalid")


@pytest.fixture
def make_work(tmp_path: Path) -> Callable[..., Work]:
    """Make empty repositories: ``make_work("name", "--object-format=sha256")``."""

    def make(name: str = "work", *options: str) -> Work:
        path = tmp_path / name
        path.mkdir()
        work = Work(path=path)
        work.git("init", "-q", "-b", "main", *options, ".")
        return work

    return make


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., Work]:
    """Clone over the file protocol, which honours ``--depth`` and ``--filter``."""

    def make(source: Work, *options: str, name: str = "clone") -> Work:
        source.git("config", "uploadpack.allowFilter", "true")
        source.git("config", "uploadpack.allowAnySHA1InWant", "true")
        source.git("clone", "-q", *options, f"file://{source.path}", str(tmp_path / name))
        return Work(path=tmp_path / name, clock=source.clock)

    return make


@pytest.fixture
def work(make_work: Callable[..., Work]) -> Work:
    """A repository with one commit: a prompt and a program."""
    made = make_work()
    made.commit({"prompts/a.md": "be brief\n", "agent/main.py": "print()\n", "readme": "x\n"})
    return made

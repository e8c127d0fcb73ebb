"""What a change is about: the parts of the harness it touches, and what it was meant to do."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.baselines.ancestry import harness_paths
from evalgate.commands.fingerprint import changed_parts
from evalgate.commands.project import State
from evalgate.core.json import Json
from evalgate.core.part_size import PartSize, size_change, size_json
from evalgate.repo.fingerprint import diff_text
from evalgate.repo.history import changes_between, subject_line
from evalgate.report.verdict import PartChange


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPart:
    """One changed part: its files with their added and removed lines, its diff, and its sizes."""

    name: str
    files: tuple[str, ...]
    diff: str
    sizes: tuple[PartSize, PartSize]

    @property
    def told(self) -> PartChange:
        """The part as it stands on a verdict's page; tables have no size."""
        size = size_change(*self.sizes) if self.files else ""
        return PartChange(name=self.name, files=self.files, diff=self.diff, size=size)

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        return {"name": self.name, "files": list(self.files), **size_json(*self.sizes)}


def what_changed(base: State, head: State) -> tuple[ChangedPart, ...]:
    """Return the parts that differ between two states."""
    found = []
    for name, files in changed_parts(base, head).items():
        globs = tuple(head.config.harness.parts.get(name, ()))
        diff = diff_text(head.project.git, base.view, head.view, globs, head.harness_root)
        sizes = (_size(base, name), _size(head, name))
        found.append(ChangedPart(name=name, files=tuple(files), diff=_body(diff), sizes=sizes))
    return tuple(found)


def hypothesis(base: State, head: State) -> str:
    """Return the first line of the newest commit of a change that touched the harness.

    What is not committed has none, and a merge says nothing of its own.
    """
    tips = (base.view.commit, head.view.commit)
    if tips[0] is None or tips[1] is None:
        return ""
    git = head.project.git
    commits = changes_between(git, tips[0], tips[1], harness_paths(head))
    newest = next((one for one in commits if len(git.parents(one)) < 2), None)  # noqa: PLR2004 - a merge has two
    return "" if newest is None else subject_line(git, newest)


def _size(state: State, name: str) -> PartSize:
    harness = state.harness
    return PartSize.of(harness.files[path].data for path in harness.members.get(name, ()))


def _body(diff: str) -> str:
    dull = ("diff --git ", "index ")
    return "\n".join(line for line in diff.splitlines() if not line.startswith(dull))

"""Checks on the difference an agent made: its size, and the lines it adds or removes."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.findings import PASSED, failed
from evalgate.checks.pattern import found_in, read_pattern
from evalgate.core.claim import line_changes
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding


@dataclass(frozen=True, slots=True)
class DiffSize:
    """At most so many lines and files are changed; lines of a binary file are not counted.

    Example: ``{type = "diff_size", lines = 20, files = 2}``.
    """

    version: ClassVar[int] = 1
    lines: int | None
    files: int | None
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> DiffSize:
        """Read ``lines``, those added and those removed, and ``files``; one of both at least."""
        size = cls(params.some_integer("lines"), params.some_integer("files"))
        if size.lines is None and size.files is None:
            raise params.error("needs 'lines' or 'files'")
        return size

    def examine(self, seen: Observation) -> Finding:
        """Pass when neither limit is passed."""
        changes = line_changes(seen.task.workspace, seen.claim).values()
        lines = sum(len(change.added) + len(change.removed) for change in changes)
        if self.lines is not None and lines > self.lines:
            return failed(f"{lines} lines are changed, more than {self.lines}")
        files = len(seen.claim.touched)
        if self.files is not None and files > self.files:
            return failed(f"{files} files are touched, more than {self.files}")
        return PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """A regular expression on the lines of one side of a difference."""

    pattern: str
    files: str
    absent: bool

    @classmethod
    def from_params(cls, params: Reader) -> _Lines:
        return cls(
            pattern=read_pattern(params),
            files=params.text("files", "*"),
            absent=params.flag("absent", default=False),
        )

    def looked_for(self, lines: Mapping[str, Sequence[str]], *, verb: str) -> Finding:
        """Look in each file whose path fits."""
        for path, some in lines.items():
            if fnmatch.fnmatchcase(path, self.files) and found_in("".join(some), self.pattern):
                if self.absent:
                    return failed(f"a line {verb} in {path} matches {self.pattern!r}")
                return PASSED
        return PASSED if self.absent else failed(f"no line {verb} matches {self.pattern!r}")


@dataclass(frozen=True, slots=True)
class DiffAdds:
    r"""A line that the agent added matches or, with ``absent``, none does.

    Example: ``{type = "diff_adds", pattern = '\bprint\(', files = "*.py", absent = true}``.
    """

    version: ClassVar[int] = 1
    wanted: _Lines
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> DiffAdds:
        """Read ``pattern``, ``files`` (a glob of paths, all) and ``absent``."""
        return cls(_Lines.from_params(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when it is as wanted in all files together."""
        changes = line_changes(seen.task.workspace, seen.claim)
        lines = {path: change.added for path, change in changes.items()}
        return self.wanted.looked_for(lines, verb="added")


@dataclass(frozen=True, slots=True)
class DiffRemoves:
    """A line that the agent removed matches or, with ``absent``, none does.

    Example: ``{type = "diff_removes", pattern = "^import os$"}``.
    """

    version: ClassVar[int] = 1
    wanted: _Lines
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> DiffRemoves:
        """Read ``pattern``, ``files`` (a glob of paths, all) and ``absent``."""
        return cls(_Lines.from_params(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when it is as wanted in all files together."""
        changes = line_changes(seen.task.workspace, seen.claim)
        lines = {path: change.removed for path, change in changes.items()}
        return self.wanted.looked_for(lines, verb="removed")

"""Checks on the files an agent left: there, with a content, or unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.apart import SECONDS, ApartError
from evalgate.checks.findings import PASSED, errored, failed
from evalgate.checks.origin import read_path
from evalgate.checks.pattern import count_in, found_in, read_pattern
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding


@dataclass(frozen=True, slots=True)
class FileExists:
    """The file is there. Example: ``{type = "file_exists", path = "src/cache.py"}``."""

    version: ClassVar[int] = 1
    path: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileExists:
        """Read ``path``."""
        return cls(read_path(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the workspace holds the path."""
        if self.path in seen.workspace:
            return PASSED
        return failed(f"{self.path} does not exist")


@dataclass(frozen=True, slots=True)
class FileAbsent:
    """The file is not there. Example: ``{type = "file_absent", path = "src/old.py"}``."""

    version: ClassVar[int] = 1
    path: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileAbsent:
        """Read ``path``."""
        return cls(read_path(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the workspace holds neither the path nor anything below it."""
        below = f"{self.path}/"
        there = sorted(p for p in seen.workspace if p == self.path or p.startswith(below))
        return failed(f"{there[0]} exists") if there else PASSED


@dataclass(frozen=True, slots=True)
class FileContains:
    """A regular expression matches in the file, or matches ``count`` times.

    Example: ``{type = "file_contains", path = "a.py", pattern = "^def pages", count = 1}``.
    """

    version: ClassVar[int] = 1
    path: str
    pattern: str
    seconds: float = SECONDS
    command: str | None = None
    count: int | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileContains:
        """Read ``path``, ``pattern`` and ``count``; 0 is for what must not be there."""
        count = params.some_integer("count")
        return cls(read_path(params), read_pattern(params), count=count)

    def examine(self, seen: Observation) -> Finding:
        """Pass when the pattern matches somewhere in the file, or as often as is asked for."""
        file = seen.workspace.get(self.path)
        if file is None:
            return failed(f"{self.path} does not exist")
        text = file.data.decode("utf-8", "replace")
        try:
            if self.count is None:
                found = found_in(text, self.pattern, seconds=self.seconds)
                return PASSED if found else failed(f"{self.path} does not match {self.pattern!r}")
            counted = count_in(text, self.pattern, seconds=self.seconds)
        except ApartError as error:
            return errored(f"{self.path}: {error}")
        if counted == self.count:
            return PASSED
        return failed(f"{self.path} matches {self.pattern!r} {counted} times, not {self.count}")


@dataclass(frozen=True, slots=True)
class FileUnchanged:
    """The file is as it was. Example: ``{type = "file_unchanged", path = "config.py"}``."""

    version: ClassVar[int] = 1
    path: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileUnchanged:
        """Read ``path``."""
        return cls(read_path(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the claim does not touch the path; error when it never existed."""
        if self.path not in seen.task.workspace:
            return errored(f"{self.path} is not in the task's workspace")
        if self.path in seen.claim.touched:
            verb = "deleted" if self.path in seen.claim.deleted else "changed"
            return failed(f"{self.path} was {verb}")
        return PASSED


@dataclass(frozen=True, slots=True)
class OnlyExpectedFiles:
    """Nothing beside the task's ``expected_files`` was touched.

    Example: ``{type = "only_expected_files"}``.
    """

    version: ClassVar[int] = 1
    command: str | None = None

    @classmethod
    def from_params(cls, _params: Reader) -> OnlyExpectedFiles:
        """Read nothing; the list is the task's."""
        return cls()

    def examine(self, seen: Observation) -> Finding:
        """Pass when every touched path is expected."""
        outside = [path for path in seen.claim.touched if path not in seen.task.expected_files]
        if outside:
            return failed(f"touched outside the expected files: {', '.join(outside)}")
        return PASSED

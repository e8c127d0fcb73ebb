"""Checks on the files an agent left: there, with a content, or unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.pattern import SECONDS, SearchError, found_in
from evalgate.core.files import is_safe_path
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.core.trial import Outcome
from evalgate.protocols import Finding

_PASSED = Finding(outcome=Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class FileExists:
    """The file is there. Example: ``{type = "file_exists", path = "src/cache.py"}``."""

    version: ClassVar[int] = 1
    path: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileExists:
        """Read ``path``."""
        return cls(_path(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the workspace holds the path."""
        if self.path in seen.workspace:
            return _PASSED
        return _failed(f"{self.path} does not exist")


@dataclass(frozen=True, slots=True)
class FileContains:
    """A regular expression matches in the file; errored when the search does not end.

    Example: ``{type = "file_contains", path = "a.py", pattern = "^def pages"}``.
    """

    version: ClassVar[int] = 1
    path: str
    pattern: str
    seconds: float = SECONDS
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileContains:
        """Read ``path`` and ``pattern``; ``^`` and ``$`` match at every line."""
        pattern = params.text("pattern")
        try:
            re.compile(pattern)
        except re.error as error:
            raise params.error(f"is no regular expression: {error}", "pattern") from error
        return cls(_path(params), pattern)

    def examine(self, seen: Observation) -> Finding:
        """Pass when the pattern matches somewhere in the file."""
        file = seen.workspace.get(self.path)
        if file is None:
            return _failed(f"{self.path} does not exist")
        try:
            text = file.data.decode("utf-8", "replace")
            found = found_in(text, self.pattern, seconds=self.seconds)
        except SearchError as error:
            return Finding(outcome=Outcome.ERRORED, detail=f"{self.path}: {error}")
        return _PASSED if found else _failed(f"{self.path} does not match {self.pattern!r}")


@dataclass(frozen=True, slots=True)
class FileUnchanged:
    """The file is as it was. Example: ``{type = "file_unchanged", path = "config.py"}``."""

    version: ClassVar[int] = 1
    path: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> FileUnchanged:
        """Read ``path``."""
        return cls(_path(params))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the claim does not touch the path; error when it never existed."""
        if self.path not in seen.task.workspace:
            detail = f"{self.path} is not in the task's workspace"
            return Finding(outcome=Outcome.ERRORED, detail=detail)
        if self.path in seen.claim.touched:
            verb = "deleted" if self.path in seen.claim.deleted else "changed"
            return _failed(f"{self.path} was {verb}")
        return _PASSED


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
            return _failed(f"touched outside the expected files: {', '.join(outside)}")
        return _PASSED


def _failed(detail: str) -> Finding:
    return Finding(outcome=Outcome.FAILED, detail=detail)


def _path(params: Reader) -> str:
    path = params.text("path")
    if not is_safe_path(path):
        raise params.error(f"{path!r} leaves the workspace", "path")
    return path

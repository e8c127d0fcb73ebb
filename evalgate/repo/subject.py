"""Which state of a project is meant: a revision, the index or the work tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evalgate.errors import UsageError


class SubjectKind(StrEnum):
    """The three states of a project that can be judged."""

    REVISION = "revision"
    INDEX = "index"
    WORKTREE = "worktree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Which state is meant; ``rev`` is empty but for a revision."""

    kind: SubjectKind
    rev: str = ""

    @classmethod
    def parse(cls, text: str) -> Subject:
        """Read ``INDEX``, ``WORKTREE`` or a revision."""
        if text in {"INDEX", "WORKTREE"}:
            return cls(kind=SubjectKind(text.lower()))
        if not text:
            message = "a revision can not be empty"
            raise UsageError(message, hint="name a commit, INDEX or WORKTREE")
        return cls(kind=SubjectKind.REVISION, rev=text)

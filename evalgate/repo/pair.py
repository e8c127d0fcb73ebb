"""A subject with the commit it is compared with, and the words they share."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.treeview import Subject, SubjectKind

FIRST_COMMIT = "first commit: nothing to compare with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is judged, against which commit (None: nothing yet), and why that one."""

    head: Subject
    base: str | None
    how: str
    head_label: str


def label_of(git: Git, subject: Subject) -> str:
    """Return the words for a subject: HEAD, twelve hex digits, index or work tree."""
    if subject.kind is SubjectKind.INDEX:
        return "index"
    if subject.kind is SubjectKind.WORKTREE:
        return "work tree"
    return "HEAD" if subject.rev == "HEAD" else git.resolve(subject.rev)[:12]


def reachable(git: Git, oid: str, what: str, *, depth: str = "2") -> str:
    """Return ``oid`` if the commit is in this clone, else say how to fetch it."""
    if git.has(oid):
        return oid
    message = f"{what} ({oid[:12]}) is not in this clone"
    hint = f"check out with fetch-depth: {depth} (or 0 for all of it)"
    raise UsageError(message, hint=hint if depth != "0" else "check out with fetch-depth: 0")

"""A subject with the commit it is compared with, and the words they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.errors import UsageError
from evalgate.repo.git import DEEPER, Git
from evalgate.repo.subject import Subject, SubjectKind

FIRST_COMMIT = "first commit: nothing to compare with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is judged, against which commit (None: nothing yet), and why that one.

    ``fork`` is set for a pull request from another repository, ``landed`` for what a branch of
    the remote has already. ``note`` is what is not known of the pair, ``measuring`` are the
    commands by which a maintainer measures the head of a fork.
    """

    head: Subject
    base: str | None
    how: str
    fork: bool = False
    landed: bool = False
    note: str = ""
    measuring: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rev: str, base: str | None, how: str, *, fork: bool = False, landed: bool = False
    ) -> Pair:
        """Return the pair of a revision."""
        head = Subject(kind=SubjectKind.REVISION, rev=rev)
        return cls(head=head, base=base, how=how, fork=fork, landed=landed)


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
    more = "" if depth == "0" else " (or 0 for all of it)"
    hint = f"git fetch --depth=1 origin {oid}; or check out with fetch-depth: {depth}{more}"
    raise UsageError(message, hint=hint)


def common_ancestor(git: Git, one: str, other: str, *, said: str) -> tuple[str, str]:
    """Return the best common ancestor, and words where it is one of several.

    Raises:
        UsageError: there is none, or a shallow clone hides it; ``said`` names the two.
    """
    common = git.merge_bases(one, other)
    if not common:
        message = f"{said} have no common ancestor in this clone"
        hint = DEEPER if git.is_shallow() else "name a base in the same history: --base"
        raise UsageError(message, hint=hint)
    return common[0], one_of(common)


def one_of(common: Sequence[str]) -> str:
    """Say that there are several merge bases, where there are."""
    return f" (the first of {len(common)} merge bases)" if len(common) > 1 else ""

"""Which commit a change is compared with: subject and base are chosen as a pair."""

from __future__ import annotations

from collections.abc import Mapping

from evalgate.repo.git import Git
from evalgate.repo.github import event_pair
from evalgate.repo.pair import FIRST_COMMIT, Pair, common_ancestor, label_of, reachable
from evalgate.repo.subject import Subject, SubjectKind

__all__ = ["Pair", "is_dirty", "resolve_pair"]


def resolve_pair(
    git: Git, *, base: str | None, head: Subject | None, environ: Mapping[str, str]
) -> Pair:
    """Choose what is judged and what it is compared with.

    An explicit base or head wins; else a GitHub event, if ``environ`` tells of one; else
    the work tree against HEAD when there are changes, and HEAD against its first parent.
    """
    if base is None and head is None:
        pair = event_pair(git, environ)
        if pair is not None:
            return pair
    subject = head or _local_head(git)
    return _local(git, subject) if base is None else _explicit(git, subject, base)


def is_dirty(git: Git) -> bool:
    """Tell whether the work tree differs from HEAD, untracked files included."""
    command = ("status", "--porcelain", "-z", "--untracked-files=normal")
    mine = (":(top)", ":(top,exclude,glob)**/.evalgate/**")
    return bool(git.run(*command, "--ignore-submodules=dirty", "--", *mine))


def _local_head(git: Git) -> Subject:
    unborn = git.lookup("HEAD^{commit}") == (None,)
    if unborn or is_dirty(git):
        return Subject(kind=SubjectKind.WORKTREE)
    return Subject(kind=SubjectKind.REVISION, rev="HEAD")


def _local(git: Git, subject: Subject) -> Pair:
    label = label_of(git, subject)
    if subject.kind is not SubjectKind.REVISION:
        (tip,) = git.lookup("HEAD^{commit}")
        how = FIRST_COMMIT if tip is None else f"{label} against HEAD"
        return Pair(head=subject, base=tip, how=how)
    parents = git.parents(subject.rev)
    if not parents:
        return Pair(head=subject, base=None, how=FIRST_COMMIT)
    parent = reachable(git, parents[0], f"the first parent of {label}")
    return Pair(head=subject, base=parent, how=f"{label} against its first parent")


def _explicit(git: Git, subject: Subject, base: str) -> Pair:
    label = label_of(git, subject)
    given = git.resolve(base)
    tip = subject.rev if subject.kind is SubjectKind.REVISION else "HEAD"
    common, several = common_ancestor(git, given, tip, said=f"{label} and {base}")
    how = f"{label} against {base}"
    if common != given:
        how = f"{label} against {common[:12]}, where it left {base}"
    return Pair(head=subject, base=common, how=how + several)

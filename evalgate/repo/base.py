"""Which commit a change is compared with: subject and base are chosen as a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from evalgate.repo.git import Git
from evalgate.repo.github import event_pair
from evalgate.repo.pair import FIRST_COMMIT, Pair, common_ancestor, label_of, reachable
from evalgate.repo.subject import Subject, SubjectKind
from evalgate.repo.treeview import open_tree

__all__ = ["Looked", "Pair", "is_dirty", "resolve_pair"]

_HEAD = Subject(kind=SubjectKind.REVISION, rev="HEAD")
_WORKTREE = Subject(kind=SubjectKind.WORKTREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What of a work tree is looked at, as pathspecs: what is ``judged``, and the ``evidence``.

    Judged are parts, tasks, configuration and workflows; evidence are recordings and baselines.
    """

    judged: tuple[str, ...]
    evidence: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.evidence, *self.judged)


def resolve_pair(
    git: Git,
    *,
    base: str | None,
    head: Subject | None,
    environ: Mapping[str, str],
    look: Callable[[], Looked],
) -> Pair:
    """Choose what is judged and what it is compared with.

    An explicit base or head wins; else a GitHub event, if ``environ`` tells of one; else the
    work tree against HEAD where it edits what is judged, and HEAD against its first parent:
    a scratch file that lies about hides no committed edit. ``look`` is asked at need alone.
    """
    if base is None and head is None:
        return event_pair(git, environ) or _here(git, look)
    if base is not None:
        return _explicit(git, head or _local_head(git, look), base)
    return _local(git, head or _HEAD)


def is_dirty(git: Git) -> bool:
    """Tell whether the work tree differs from HEAD, untracked files included."""
    command = ("status", "--porcelain", "-z", "--untracked-files=normal")
    mine = (":(top)", ":(top,exclude,glob)**/.evalgate/**")
    return bool(git.run(*command, "--ignore-submodules=dirty", "--", *mine))


def _local_head(git: Git, look: Callable[[], Looked]) -> Subject:
    """Return HEAD, or the work tree where that differs from it in what is looked at."""
    return _WORKTREE if any(_edited(git, look)) else _HEAD


def _edited(git: Git, look: Callable[[], Looked]) -> tuple[bool, bool]:
    """Tell whether the work tree differs from HEAD in what is judged, and in the evidence."""
    (tip,) = git.lookup("HEAD^{commit}")
    if tip is None:
        return True, False
    looked = look()
    with open_tree(git, _WORKTREE, paths=looked.paths) as view:
        names = ("--no-renames", "--name-only", "-z", tip, view.tree, "--")
        judged, evidence = (
            bool(view.git.compare_trees(*names, *paths))
            for paths in (looked.judged, looked.evidence)
        )
    return judged, evidence


def _here(git: Git, look: Callable[[], Looked]) -> Pair:
    judged, evidence = _edited(git, look)
    pair = _local(git, _WORKTREE if judged else _HEAD)
    if not judged and evidence:
        if pair.base is None:
            return _local(git, _WORKTREE)
        how = "HEAD with what is recorded and accepted but not committed, against its first parent"
        return replace(pair, head=_WORKTREE, how=how)
    if not judged and is_dirty(git):
        why = "what is not committed is none of what is judged"
        return replace(pair, how=f"{pair.how} ({why})")
    return pair


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

"""The harnesses that a line of history went through, between two of its commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.project import Project, open_state
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.history import first_parents
from evalgate.repo.subject import Subject

#: So many commits are looked through between the two ends.
_LIMIT = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One harness on the line: ``commit`` brought it, and ``models`` are the ids it asks for.

    ``unread`` are the commits just before it whose harness can not be read.
    """

    commit: str
    fingerprint: str
    models: tuple[str, ...]
    unread: tuple[str, ...] = ()


def commits_between(git: Git, good: str, bad: str) -> tuple[str, ...]:
    """Return the commits from ``good`` to ``bad`` along first parents, both with them.

    Raises:
        UsageError: there is no such line between them.
    """
    first, last = git.resolve(good), git.resolve(bad)
    line = first_parents(git, last, _LIMIT)
    if first not in line:
        message = f"{good} ({first[:12]}) is not on the first-parent line of {bad} ({last[:12]})"
        shallow = "the clone is shallow: fetch more of its history (fetch-depth: 0)"
        hint = shallow if git.is_shallow() else "git log --first-parent shows that line"
        raise UsageError(message, hint=hint)
    return tuple(reversed(line[: line.index(first) + 1]))


def lineage(project: Project, commits: Sequence[str]) -> tuple[Step, ...]:
    """Return the harnesses of commits, oldest first, each once.

    What was tried and taken back is left out: from a harness that comes back, the line goes on
    where it was before.

    Raises:
        UsageError: the harness of the first or the last commit can not be read.
    """
    steps: list[Step] = []
    unread: list[str] = []
    for commit in commits:
        try:
            with open_state(project, Subject.parse(commit)) as state:
                fingerprint = state.fingerprint.digest
                models = tuple(sorted(model.id for model in state.config.models.values()))
        except UsageError:
            if commit in {commits[0], commits[-1]}:
                raise
            unread.append(commit)
            continue
        known = [step.fingerprint for step in steps]
        if fingerprint in known:
            del steps[known.index(fingerprint) + 1 :]
        else:
            steps.append(
                Step(commit=commit, fingerprint=fingerprint, models=models, unread=tuple(unread))
            )
        unread.clear()
    return tuple(steps)

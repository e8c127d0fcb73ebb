"""All trials of one harness over one suite, in the form two of which can be compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalgate.core.identity import Conditions
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One trial in a comparison: raw values, and what failed first."""

    n: int
    outcome: Outcome
    checks: Mapping[str, Outcome] = field(default_factory=dict)
    reason: str = ""
    signals: Signals = field(default_factory=Signals)
    cassette: str = ""
    patch: str = ""

    @property
    def identity(self) -> tuple[object, ...] | None:
        """What tells a trial from the others of its task wherever its numbers stand.

        That is its recording, or all its numbers where its time is one of them; None where
        neither is known.
        """
        if self.cassette:
            return (self.cassette,)
        return None if self.signals.seconds is None else (self.outcome, self.signals)


def new_rows(known: Iterable[Row], rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows of a task that are none of the known ones, so that each trial enters once.

    A recording is one trial however often it was played; equal numbers of a live trial are its
    own as often as they are known.
    """
    left = Counter(row.identity for row in known)
    found = []
    for row in rows:
        if row.identity is not None and left[row.identity]:
            left[row.identity] -= 0 if row.cassette else 1
        else:
            found.append(row)
            left[row.identity] += bool(row.cassette)
    return tuple(found)


def without_retried(runs: Sequence[Sequence[Trial]]) -> tuple[Trial, ...]:
    """Return the trials of runs of one harness, oldest first, as one sample has them.

    A trial that errored was not measured: it is left out once a later run tried its task again.
    """
    kept: list[Trial] = []
    again: set[tuple[str, str]] = set()
    for trials in reversed(runs):
        kept[:0] = [
            one
            for one in trials
            if one.outcome is not Outcome.ERRORED or (one.task, one.key.task_digest) not in again
        ]
        again |= {(one.task, one.key.task_digest) for one in trials}
    return tuple(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSample:
    """All rows of one task, and one patch that passed (empty when none did)."""

    task: str
    digest: str
    rows: tuple[Row, ...]
    passing_patch: str = ""

    @property
    def measured(self) -> tuple[Row, ...]:
        """The rows that count: errored ones were not measured."""
        return tuple(row for row in self.rows if row.outcome is not Outcome.ERRORED)

    @property
    def passed(self) -> int:
        """How many rows passed."""
        return sum(row.outcome is Outcome.PASSED for row in self.rows)

    def check_passes(self, name: str) -> tuple[int, int]:
        """Return how often a check passed, and how often it was examined."""
        seen = [row.checks[name] for row in self.measured if name in row.checks]
        return sum(outcome is Outcome.PASSED for outcome in seen), len(seen)

    @property
    def check_names(self) -> tuple[str, ...]:
        """Every check's name, in order of first appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.checks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is known of one harness: the rows of each task, and under what conditions."""

    fingerprint: str
    conditions: Conditions
    tasks: Mapping[str, TaskSample]
    evidence: Evidence
    recordings: int = 1

    def is_within(self, other: Sample) -> bool:
        """Tell whether every trial is one of another sample's, of the same harness and task."""
        if self.fingerprint != other.fingerprint or not self.rows:
            return False
        return self == other or not any(
            new_rows(other.tasks[name].rows if name in other.tasks else (), task.rows)
            for name, task in self.tasks.items()
        )

    def without(self, tasks: Collection[str]) -> Sample:
        """Return the sample without some tasks."""
        kept = {name: task for name, task in self.tasks.items() if name not in tasks}
        return replace(self, tasks=kept)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows of all tasks."""
        return tuple(row for task in self.tasks.values() for row in task.rows)

    @property
    def passed(self) -> int:
        """How many trials passed."""
        return sum(task.passed for task in self.tasks.values())

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Passes and runs of each task that was measured, by name."""
        return {
            name: (task.passed, len(task.measured))
            for name, task in sorted(self.tasks.items())
            if task.measured
        }

    def stored_of(self, tasks: Mapping[str, str]) -> dict[str, tuple[int, int]]:
        """Return what is stored of tasks, given with their digests: nothing of another version."""
        return {
            name: counts
            for name, counts in self.stored.items()
            if self.tasks[name].digest == tasks.get(name)
        }

    @property
    def pass_rate(self) -> float | None:
        """The mean over measured tasks of their pass rates; None where none was measured."""
        rates = [one.passed / len(one.measured) for one in self.tasks.values() if one.measured]
        return math.fsum(rates) / len(rates) if rates else None

    @property
    def measured(self) -> int:
        """How many trials were measured."""
        return len(self.rows) - self.errored

    @property
    def errored(self) -> int:
        """How many trials were not measured."""
        return sum(row.outcome is Outcome.ERRORED for row in self.rows)


def sample_of(
    trials: Iterable[Trial], *, fingerprint: str, evidence: Evidence, recordings: int = 1
) -> Sample:
    """Gather trials into a sample; conditions are those of the trials taken together."""
    grouped: dict[str, list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.task, trial.key.n)):
        grouped.setdefault(trial.task, []).append(trial)
    return Sample(
        fingerprint=fingerprint,
        conditions=joint_conditions([t.conditions for group in grouped.values() for t in group]),
        tasks={task: _task_sample(task, group) for task, group in grouped.items()},
        evidence=evidence,
        recordings=recordings,
    )


def joint_conditions(many: list[Conditions]) -> Conditions:
    """Join the conditions of several trials: a trial that asked no model names none."""
    sandboxes = sorted({one.sandbox for one in many})
    agents = sorted({one.agent for one in many if one.agent})
    return Conditions(
        sandbox=", ".join(sandboxes),
        agent=", ".join(agents),
        models=tuple(sorted({model for one in many for model in one.models})),
        checks={name: _version(name, many) for one in many for name in one.checks},
        images={name: _images(name, many) for one in many for name in one.images},
        promises={
            name: all(other.promises.get(name, True) for other in many)
            for one in many
            for name in one.promises
        },
        judges=tuple(sorted({judge for one in many for judge in one.judges})),
        judged_at={name: _judged_at(name, many) for one in many for name in one.judged_at},
        format=max((one.format for one in many), default=1),
    )


def _version(name: str, many: list[Conditions]) -> int:
    # Zero is no check's version: a mixture equals nothing, so it is incomparable.
    versions = {one.checks[name] for one in many if name in one.checks}
    return versions.pop() if len(versions) == 1 else 0


def _images(name: str, many: list[Conditions]) -> str:
    return ", ".join(sorted({one.images[name] for one in many if name in one.images}))


def _judged_at(name: str, many: list[Conditions]) -> str:
    return ", ".join(sorted({one.judged_at[name] for one in many if name in one.judged_at}))


def _task_sample(task: str, trials: list[Trial]) -> TaskSample:
    passing = next((t.patch for t in trials if t.outcome is Outcome.PASSED), "")
    return TaskSample(
        task=task,
        digest=trials[0].key.task_digest,
        rows=tuple(_row(trial) for trial in trials),
        passing_patch=passing,
    )


def _by_name(checks: Iterable[CheckResult]) -> dict[str, Outcome]:
    """Return outcomes by the names of their checks; of equal ones the second is ``name #2``."""
    known: Counter[str] = Counter()
    found = {}
    for check in checks:
        known[check.name] += 1
        again = known[check.name]
        found[check.name if again == 1 else f"{check.name} #{again}"] = check.outcome
    return found


def _row(trial: Trial) -> Row:
    return Row(
        n=trial.key.n,
        outcome=trial.outcome,
        checks=_by_name(trial.checks),
        reason=trial.reason,
        signals=trial.signals,
        cassette=trial.cassette,
        patch=trial.patch,
    )

"""A session: what was measured of one harness on one day, under equal conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from evalgate.core.sample import Row, Sample, joint_conditions, new_rows

#: Trials, and the day on which they were measured.
Dated = tuple[date, Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The trials of one day, of every task that ran."""

    day: date
    sample: Sample

    def lacks(self, tasks: Mapping[str, str]) -> tuple[str, ...]:
        """Name the tasks, given with their digests, of which no trial was measured."""
        return tuple(
            name
            for name, digest in tasks.items()
            if (found := self.sample.tasks.get(name)) is None
            or found.digest != digest
            or not found.measured
        )

    def of(self, tasks: Iterable[str]) -> Session:
        """Return what it holds of these tasks."""
        found = {name: self.sample.tasks[name] for name in tasks}
        return replace(self, sample=replace(self.sample, tasks=found))


def sessions_of(runs: Iterable[Dated], baselines: Iterable[Dated] = ()) -> tuple[Session, ...]:
    """Return the sessions that runs and baselines are, in the order of their days.

    A baseline holds the trials of the runs that it was accepted from, and of other baselines: what
    is known of elsewhere is left out of it, so that each trial enters once. So is a recording that
    was played before. What was measured on one day under equal conditions is one session.
    """
    dated = [*runs]
    known: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for _, sample in dated:
        for task in sample.tasks.values():
            known[task.task, task.digest] += task.rows
    for day, whole in sorted(baselines, key=_day):
        dated.append((day, _new(whole, known)))
    sessions: list[Session] = []
    for day, sample in sorted(dated, key=_day):
        last = sessions[-1] if sessions else None
        if not sample.rows:
            continue
        if last is not None and _are_one(last, day, sample):
            sessions[-1] = replace(last, sample=_joined(last.sample, sample))
        else:
            sessions.append(Session(day=day, sample=sample))
    return tuple(sessions)


def _day(dated: Dated) -> date:
    return dated[0]


def _are_one(session: Session, day: date, sample: Sample) -> bool:
    return session.day == day and not session.sample.conditions.differences(sample.conditions)


def _new(sample: Sample, known: Mapping[tuple[str, str], list[Row]]) -> Sample:
    """Return what of a sample is not known, and know it from now on."""
    tasks = {}
    for name, task in sample.tasks.items():
        of_task = known[name, task.digest]
        rows = new_rows(of_task, task.rows)
        of_task += rows
        if rows:
            tasks[name] = replace(task, rows=rows)
    return replace(sample, tasks=tasks)


def _joined(first: Sample, second: Sample) -> Sample:
    tasks = dict(first.tasks)
    for name, task in second.tasks.items():
        old = tasks.get(name)
        same = old is not None and old.digest == task.digest
        tasks[name] = replace(task, rows=(*old.rows, *task.rows)) if old and same else task
    conditions = joint_conditions([first.conditions, second.conditions])
    return replace(first, tasks=tasks, conditions=conditions)


def pass_rate_of(sample: Sample) -> float | None:
    """Return the mean over tasks of their pass rates; None where a task was not measured."""
    return sample.pass_rate if all(task.measured for task in sample.tasks.values()) else None

"""The parts of a verdict's page that need the tasks: what failed, and against what."""

from __future__ import annotations

from dataclasses import replace

from evalgate.commands.accept import ENOUGH
from evalgate.commands.evidence import HeadTrials
from evalgate.commands.project import State
from evalgate.core.change import Change, TaskChange
from evalgate.core.patch import render_difference
from evalgate.core.sample import Row, TaskSample
from evalgate.core.trial import Evidence, Outcome
from evalgate.core.verdict import Verdict
from evalgate.report.verdict import Story


def tell(story: Story, verdict: Verdict, base: State, head: HeadTrials) -> Story:
    """Add the failing checks, the diffs to the last passing output, and the next commands."""
    snapshots = {task.id: task.workspace for task in base.tasks}
    failures, differences = {}, {}
    for change in verdict.of(Change.REGRESSED, Change.FELL):
        row = _failing_row(change.head)
        if row is None:
            continue
        failures[change.task] = row.reason
        passing = _passing_patch(change)
        if passing:
            snapshot = snapshots[change.task]
            differences[change.task] = render_difference(snapshot, passing, row.patch)
    return replace(
        story,
        failures=failures,
        differences=differences,
        next_steps=tuple(_steps(verdict, head)),
    )


def _failing_row(sample: TaskSample | None) -> Row | None:
    rows = () if sample is None else sample.rows
    return next((row for row in rows if row.outcome is Outcome.FAILED), None)


def _passing_patch(change: TaskChange) -> str:
    return "" if change.base is None else change.base.passing_patch


def _steps(verdict: Verdict, head: HeadTrials) -> list[str]:
    worst = [change.task for change in verdict.of(Change.REGRESSED, Change.FELL)][:1]
    steps = [f"evalgate show {head.run}:{task}" for task in worst]
    if int(verdict.exit_code) == 0:
        few = _fewer(head)
        steps.append(f"evalgate baseline accept {head.run}{few}   # then commit baselines/")
    return steps


def _fewer(head: HeadTrials) -> str:
    """Return the option with which fewer live trials are accepted than a baseline takes."""
    least = min((len(task.measured) for task in head.sample.tasks.values()), default=0)
    live = head.sample.evidence is Evidence.MEASURED
    return f" -k {max(1, least)}" if live and least < ENOUGH else ""

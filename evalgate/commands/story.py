"""The parts of a verdict's page that need the tasks: what the agent did, and did before."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from evalgate.commands.accept import ENOUGH
from evalgate.commands.courses import Courses
from evalgate.commands.evidence import HeadTrials
from evalgate.commands.project import State
from evalgate.core.change import Change, TaskChange
from evalgate.core.decision import Decision
from evalgate.core.patch import render_difference
from evalgate.core.sample import Row
from evalgate.core.trial import Evidence, Outcome
from evalgate.core.verdict import Verdict
from evalgate.report.shedding import MOST_FOLDS
from evalgate.report.task_rows import failures_of
from evalgate.report.tool_calls import CallsChange, call_lines
from evalgate.report.verdict import Story


def tell(story: Story, verdict: Verdict, base: State, head: HeadTrials, state: State) -> Story:
    """Add diffs and tool calls against the last passing output, and the next commands.

    ``state`` is the head's, ``base`` that which it is compared with.
    """
    snapshots = {task.id: task.workspace for task in base.tasks}
    sides = [
        Courses(state=of, fingerprint="" if sample is None else sample.fingerprint)
        for of, sample in ((base, verdict.base), (state, verdict.head))
    ]
    calls, differences = {}, {}
    for change in verdict.of(Change.REGRESSED, Change.FELL)[:MOST_FOLDS]:
        failing, passing = _failing(change), _passing(change)
        if not failing:
            continue
        patch = "" if change.base is None else change.base.passing_patch
        if patch:
            differences[change.task] = render_difference(
                snapshots[change.task], patch, failing[0].patch
            )
        before, after = (
            None if course is None else call_lines(course.calls)
            for course in (sides[0].of(change.task, passing), sides[1].of(change.task, failing[:1]))
        )
        calls[change.task] = CallsChange(before=before, after=after)
    return replace(
        story,
        differences=differences,
        calls=calls,
        run=head.run,
        next_steps=tuple(_steps(verdict, head, base, sides[1])),
    )


def _failing(change: TaskChange) -> list[Row]:
    """Return the trials that fail in the commonest way."""
    reasons = [failure.reason for failure in failures_of(change.head)[:1]]
    rows = () if change.head is None else change.head.rows
    return [row for row in rows if row.outcome is Outcome.FAILED and row.reason in reasons]


def _passing(change: TaskChange) -> list[Row]:
    rows = () if change.base is None else change.base.rows
    return [row for row in rows if row.outcome is Outcome.PASSED]


def _steps(verdict: Verdict, head: HeadTrials, base: State, courses: Courses) -> list[str]:
    fallen = verdict.of(Change.REGRESSED, Change.FELL)
    names = (courses.name_of(change.task, _failing(change)) for change in fallen)
    steps = [f"evalgate show {quote(name)}   # a trial that fails" for name in names if name][:1]
    if verdict.decision is Decision.MOVED:
        rev = f" --rev {base.view.commit[:12]}" if base.view.commit else ""
        steps.append(f"evalgate baseline renew{rev}   # says what a new baseline of the base costs")
    if int(verdict.exit_code) == 0:
        few = _fewer(head)
        steps.append(f"evalgate baseline accept {head.run}{few}   # then commit baselines/")
    return steps


def _fewer(head: HeadTrials) -> str:
    """Return the option with which fewer live trials are accepted than a baseline takes."""
    least = min((len(task.measured) for task in head.sample.tasks.values()), default=0)
    live = head.sample.evidence is Evidence.MEASURED
    return f" -k {max(1, least)}" if live and least < ENOUGH else ""

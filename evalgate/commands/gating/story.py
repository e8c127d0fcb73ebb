"""The parts of a verdict's page that need the tasks: what the agent did, and did before."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import Final

from evalgate.commands.baselines.accept import ENOUGH
from evalgate.commands.gating.evidence import HeadTrials
from evalgate.commands.project import State
from evalgate.commands.telling.courses import Courses
from evalgate.core.change import Change, TaskChange
from evalgate.core.decision import Decision
from evalgate.core.patch import render_difference
from evalgate.core.sample import Row
from evalgate.core.trial import Evidence, Outcome
from evalgate.core.verdict import Verdict
from evalgate.report.last_words import LastWords
from evalgate.report.shedding import MOST_FOLDS
from evalgate.report.task_rows import failures_of
from evalgate.report.tool_calls import CallsChange, call_lines
from evalgate.report.verdict import Story

#: What a regrade is called by who has just made it, wherever that is.
LATEST: Final = "latest"

#: Trials that whoever has the commit can grade again.
_MADE_AGAIN: Final = frozenset({Evidence.REGRADED, Evidence.SPOT_CHECKED})


def tell(story: Story, verdict: Verdict, base: State, head: HeadTrials, state: State) -> Story:
    """Add what changed against the last passing output, and the next commands.

    ``state`` is the head's, ``base`` that which it is compared with.
    """
    snapshots = {task.id: task.workspace for task in base.tasks}
    sides = [
        Courses(state=of, fingerprint="" if sample is None else sample.fingerprint)
        for of, sample in ((base, verdict.base), (state, verdict.head))
    ]
    calls, words, differences = {}, {}, {}
    for change in verdict.of(Change.REGRESSED, Change.FELL)[:MOST_FOLDS]:
        failing, passing = _failing(change), _passing(change)
        if not failing:
            continue
        patch = "" if change.base is None else change.base.passing_patch
        if patch:
            differences[change.task] = render_difference(
                snapshots[change.task], patch, failing[0].patch
            )
        courses = sides[0].of(change.task, passing), sides[1].of(change.task, failing[:1])
        before, after = (None if one is None else call_lines(one.calls) for one in courses)
        calls[change.task] = CallsChange(before=before, after=after)
        said, says = (None if one is None else one.final_answer or "" for one in courses)
        words[change.task] = LastWords(before=said, after=says)
    return replace(
        story,
        differences=differences,
        calls=calls,
        words=words,
        run=_run(story, head),
        next_steps=tuple(_steps(verdict, head, base, sides[1], story)),
    )


def _run(story: Story, head: HeadTrials) -> str:
    """Return the name of the head's run where the page is read; empty where it does not get."""
    if not story.away:
        return head.run
    return LATEST if head.sample.evidence in _MADE_AGAIN else ""


def _failing(change: TaskChange) -> list[Row]:
    """Return the trials that fail in the commonest way."""
    reasons = [failure.reason for failure in failures_of(change.head)[:1]]
    rows = () if change.head is None else change.head.rows
    return [row for row in rows if row.outcome is Outcome.FAILED and row.reason in reasons]


def _passing(change: TaskChange) -> list[Row]:
    rows = () if change.base is None else change.base.rows
    return [row for row in rows if row.outcome is Outcome.PASSED]


def _steps(
    verdict: Verdict, head: HeadTrials, base: State, courses: Courses, story: Story
) -> list[str]:
    fallen = verdict.of(Change.REGRESSED, Change.FELL)
    run, steps = _run(story, head), []
    if run and story.away:
        steps.append(
            "evalgate regrade   # with the branch checked out: its recordings, graded there"
        )
    if run:
        names = (courses.name_of(change.task, _failing(change)) for change in fallen)
        shown = [
            f"{run}:{name.partition(':')[2]}" if story.away else name for name in names if name
        ]
        steps += [f"evalgate show {quote(name)}   # a trial that fails" for name in shown[:1]]
        steps.append(
            f"evalgate report {run} --format html -o .evalgate/report.html   # in a browser"
        )
    if verdict.decision is Decision.MOVED:
        rev = f" --rev {base.view.commit[:12]}" if base.view.commit else ""
        steps.append(f"evalgate baseline renew{rev}   # says what a new baseline of the base costs")
    if run and int(verdict.exit_code) == 0:
        few = _fewer(head)
        steps.append(f"evalgate baseline accept {run}{few}   # then commit baselines/")
    return steps


def _fewer(head: HeadTrials) -> str:
    """Return the option with which fewer live trials are accepted than a baseline takes."""
    least = min((len(task.measured) for task in head.sample.tasks.values()), default=0)
    live = head.sample.evidence is Evidence.MEASURED
    return f" -k {max(1, least)}" if live and least < ENOUGH else ""

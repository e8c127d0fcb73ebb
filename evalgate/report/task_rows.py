"""The tasks of a verdict as rows of a page: what became of each, and what fails in it now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.core.change import Change, TaskChange
from evalgate.core.decision import Decision
from evalgate.core.floors import unkept
from evalgate.core.sample import Row, TaskSample
from evalgate.core.trial import MARKS, Outcome
from evalgate.core.verdict import Verdict
from evalgate.report.numbers import chance

#: What stands before what became of a task, to be seen without colours.
_MARKS: Final = {
    Change.REGRESSED: "✘ ",
    Change.FELL: "▼ ",
    Change.FIRST_PASS: "▲ ",
    Change.ROSE: "▲ ",
}
#: So many trials have their sign in the table of all tasks.
_MOST_SIGNS: Final = 20
#: Whose failures are told; of others is told what is known of them beside.
_FAILING: Final = {Change.REGRESSED, Change.FELL, Change.QUARANTINED, Change.NOT_MEASURED}
#: What a word of the verdict leaves open for somebody who does not know it.
_ADDED: Final = {Change.FELL: ", may be chance", Change.QUARANTINED: ", not counted"}
_WHY: Final = {
    Change.FIRST_PASS: "it never passed before: read how it does now",
    Change.NEW: "the base has no such task",
    Change.GONE: "no trial of it here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One way in which trials of a task do not pass, and how many of them.

    ``check`` is the check that failed first, empty where no check was reached; ``detail`` is what
    it says.
    """

    reason: str
    trials: int
    check: str = ""

    @property
    def detail(self) -> str:
        """What the check says, or why none was reached."""
        return self.reason.removeprefix(self.check).removeprefix(": ")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task: how often it passed on each side, what became of it, how it fails now.

    ``signs`` has a sign for each trial of the head, ``why`` says what no failure says. A ``broken``
    one passes less often, a ``proven`` one by more than chance; ``asked`` is one that must pass
    and does not, whatever it did before.
    """

    task: str
    change: str
    base: str
    head: str
    p: str
    signs: str
    failures: tuple[Failure, ...] = ()
    why: str = ""
    broken: bool = False
    proven: bool = False
    asked: bool = False

    @property
    def failing(self) -> str:
        """What fails most often; else why nothing can be said of the task."""
        return self.failures[0].reason if self.failures else self.why

    @property
    def sentence(self) -> str:
        """What became of it, in words for somebody who sees no table."""
        return f"passed {self.base} before and passes {self.head} now"

    @property
    def lead(self) -> str:
        """What the row is to a verdict that blocks."""
        if self.asked:
            return "What must pass and does not"
        return "What broke" if self.proven else "What fell most"


def task_rows(verdict: Verdict) -> list[TaskRow]:
    """Return all tasks, those first that a reader has to see first."""
    asked = () if verdict.head is None else unkept(verdict.head, verdict.policy)
    order = list(Change)
    changes = sorted(verdict.changes, key=lambda c: (c.task not in asked, order.index(c.change)))
    return [_row(one, asked=one.task in asked) for one in changes]


def culprits(verdict: Verdict) -> list[TaskRow]:
    """Return the tasks that a block rests on, accepted or not: what must pass, then what fell.

    None for a block by what no single task is to blame for.
    """
    if verdict.decision not in {Decision.REGRESSION, Decision.WAIVED}:
        return []
    return [row for row in task_rows(verdict) if row.asked or (row.broken and not verdict.absolute)]


def moved_rows(verdict: Verdict) -> list[TaskRow]:
    """Return the tasks that moved, or can not be compared; none where no trial ran."""
    if verdict.head is not None and not verdict.head.rows:
        return []
    return [row for row in task_rows(verdict) if row.asked or row.change != Change.SAME]


def fallen_rows(verdict: Verdict) -> list[TaskRow]:
    """Return the tasks that pass less often than before, or than they must."""
    return [row for row in task_rows(verdict) if row.asked or row.broken]


def failures_of(sample: TaskSample | None) -> tuple[Failure, ...]:
    """Count how trials fail, the commonest way first; where none failed, how they errored."""
    rows = () if sample is None else sample.rows
    for outcome in (Outcome.FAILED, Outcome.ERRORED):
        seen = Counter((row.reason, _check(row, outcome)) for row in rows if row.outcome is outcome)
        if seen:
            return tuple(
                Failure(reason=reason, trials=many, check=check)
                for (reason, check), many in seen.most_common()
            )
    return ()


def _check(row: Row, outcome: Outcome) -> str:
    """Return the check that a trial's reason is of."""
    names = (name for name, found in row.checks.items() if found is outcome)
    return next((name for name in names if f"{row.reason}: ".startswith(f"{name}: ")), "")


def _row(change: TaskChange, *, asked: bool) -> TaskRow:
    told = change.change
    word = f"{_MARKS.get(told, '')}{told}{_ADDED.get(told, '')}"
    return TaskRow(
        task=change.task,
        change=f"✘ must pass ({told})" if asked else word,
        base=_rate(change.base),
        head=_rate(change.head),
        p="–" if change.p is None else chance(change.p),
        signs=_signs(change.head),
        failures=failures_of(change.head) if asked or told in _FAILING else (),
        why=change.why or _WHY.get(told, ""),
        broken=told in {Change.REGRESSED, Change.FELL},
        proven=told is Change.REGRESSED,
        asked=asked,
    )


def _rate(sample: TaskSample | None) -> str:
    return "–" if sample is None else f"{sample.passed}/{len(sample.measured)}"


def _signs(sample: TaskSample | None) -> str:
    rows: Sequence[Outcome] = () if sample is None else [row.outcome for row in sample.rows]
    signs = "".join(MARKS[one] for one in rows[:_MOST_SIGNS])
    more = len(rows) - _MOST_SIGNS
    return f"{signs} +{more}" if more > 0 else signs or "–"

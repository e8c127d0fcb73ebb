"""The verdict: a base sample and a head sample in, one decision with its reasons out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalgate.core.change import Change, TaskChange, change_of, to_json
from evalgate.core.counts import TaskCounts
from evalgate.core.decision import EXIT_CODES, Decision
from evalgate.core.identity import FORMAT
from evalgate.core.json import Json
from evalgate.core.policy import Policy
from evalgate.core.rule import rule
from evalgate.core.sample import Sample
from evalgate.core.statistics import (
    Difference,
    about_more_runs,
    drop_not_excluded,
    pass_rate_difference,
)
from evalgate.core.trial import Outcome
from evalgate.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One decision, and everything a person needs to believe or doubt it."""

    decision: Decision
    sentence: str
    policy: Policy
    base: Sample | None = None
    head: Sample | None = None
    changes: tuple[TaskChange, ...] = ()
    difference: Difference | None = None
    p_worse: float | None = None
    p_better: float | None = None
    reasons: tuple[str, ...] = ()
    context: Mapping[str, Json] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the decision."""
        return EXIT_CODES[self.decision]

    def of(self, *kinds: Change) -> tuple[TaskChange, ...]:
        """Return the changes of some kinds."""
        return tuple(change for change in self.changes if change.change in kinds)

    def to_json(self) -> dict[str, Json]:
        """Return the content of ``verdict.json``."""
        difference = self.difference
        return {
            "format": FORMAT,
            "decision": str(self.decision),
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "reasons": list(self.reasons),
            "evidence": None if self.head is None else str(self.head.evidence),
            "difference": None
            if difference is None
            else {"point": difference.point, "low": difference.low, "high": difference.high},
            "p_worse": self.p_worse,
            "p_better": self.p_better,
            "tasks": [to_json(change) for change in self.changes],
            "policy": self.policy.sentence,
            **self.context,
        }


def judge(base: Sample, head: Sample, policy: Policy, *, doubts: Sequence[str] = ()) -> Verdict:
    """Compare two samples by the one-stage rule.

    A block needs the suite's exact stratified mid-p at or below ``policy.suite_alpha``, or
    one task's step-down min-P at or below ``policy.task_alpha``. ``doubts`` are reasons why
    the numbers may not be believed at all; with any of them the verdict is void.
    """
    unequal = base.conditions.differences(head.conditions)
    changes = [change_of(name, base, head) for name in sorted({*base.tasks, *head.tasks})]
    blank = Verdict(
        decision=Decision.PASS,
        sentence="",
        policy=policy,
        base=base,
        head=head,
        changes=tuple(changes),
    )
    if doubts:
        sentence = f"The numbers can not be believed: {doubts[0]}."
        return replace(blank, decision=Decision.VOID, sentence=sentence, reasons=tuple(doubts))
    if not head.rows:
        return replace(blank, decision=Decision.NOTHING_RAN, sentence="No trial ran.")
    if unequal:
        sentence = "Base and head were measured under other conditions: incomparable."
        return replace(blank, decision=Decision.NO_BASELINE, sentence=sentence, reasons=unequal)
    if policy.not_measured(head.errored, len(head.rows)):
        sentence = (
            f"{head.errored} of {len(head.rows)} trials errored, more than "
            f"{policy.max_errored * 100:g} %: this was not measured."
        )
        reasons = _error_reasons(head)
        return replace(blank, decision=Decision.NOT_MEASURED, sentence=sentence, reasons=reasons)
    counts = [_counts(change) for change in changes if _comparable(change)]
    if not counts:
        sentence = "No task of the head can be compared with the base's numbers."
        reasons = tuple(f"{change.task}: {change.why or change.change}" for change in changes)
        return replace(blank, decision=Decision.NO_BASELINE, sentence=sentence, reasons=reasons)
    return _decide(blank, counts, policy)


def _decide(blank: Verdict, counts: Sequence[TaskCounts], policy: Policy) -> Verdict:
    ruling = rule(counts, policy)
    tasks, broken = ruling.tasks, ruling.broken
    difference = pass_rate_difference(counts)
    changes = tuple(
        replace(
            change,
            p=tasks[change.task].adjusted if change.task in tasks else None,
            change=Change.REGRESSED if change.task in broken else change.change,
        )
        for change in blank.changes
    )
    order = list(Change)
    judged = replace(
        blank,
        changes=tuple(sorted(changes, key=lambda c: (order.index(c.change), c.p or 0.0, c.task))),
        difference=difference,
        p_worse=ruling.p_worse,
        p_better=ruling.p_better,
    )
    rates = f"{_rate(counts, 'base')} → {_rate(counts, 'head')} ({points(difference)})"
    if len(counts) < len(changes):
        rates += f" on the {len(counts)} of {len(changes)} tasks that can be compared"
    if ruling.worse:
        named = f"; broken: {', '.join(sorted(broken))}" if broken else ""
        does = "lowers the pass rate" if difference.point < 0 else "breaks a task"
        sentence = f"Merging this {does}: {rates}{named}."
        return replace(judged, decision=Decision.REGRESSION, sentence=sentence)
    if ruling.better:
        sentence = f"Merging this raises the pass rate: {rates}."
        return replace(judged, decision=Decision.IMPROVED, sentence=sentence)
    left = drop_not_excluded(difference)
    sentence = (
        f"No detectable change: {rates}. A drop of up to {left * 100:.0f} points is not excluded."
    )
    reasons = _what_would_decide(counts, left, policy)
    return replace(judged, decision=Decision.PASS, sentence=sentence, reasons=reasons)


def _what_would_decide(
    counts: Sequence[TaskCounts], left: float, policy: Policy
) -> tuple[str, ...]:
    more = about_more_runs(counts, policy.margin) if policy.margin > 0 else None
    if left <= policy.margin or not more:
        return ()
    margin = f"{policy.margin * 100:g} points"
    return (f"To see or exclude a drop of {margin}, about {more} more trials would be needed.",)


def points(difference: Difference) -> str:
    """Return a difference in points with its 90 % interval, for a person."""
    low, high = difference.low * 100, difference.high * 100
    point = round(difference.point * 100, 1) + 0.0  # a drop of nothing is no drop: never -0.0
    return f"{point:+.1f} points, 90 % interval {low:+.0f} to {high:+.0f}"


def percent(passed: int, runs: int) -> str:
    """Return a rate that is 100 % or 0 % only when it is exactly that."""
    if not runs:
        return "unknown"
    shown = round(100 * passed / runs)
    if passed < runs:
        shown = min(shown, 99)
    if passed:
        shown = max(shown, 1)
    return f"{shown} %"


def _rate(counts: Sequence[TaskCounts], side: str) -> str:
    passed = sum(getattr(one, f"{side}_passed") for one in counts)
    return percent(passed, sum(getattr(one, f"{side}_runs") for one in counts))


def _error_reasons(head: Sample) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for row in head.rows:
        if row.outcome is Outcome.ERRORED:
            seen[row.reason] = seen.get(row.reason, 0) + 1
    return tuple(f"{count} × {reason}" for reason, count in seen.items())


def _comparable(change: TaskChange) -> bool:
    return change.change in {Change.FELL, Change.FIRST_PASS, Change.ROSE, Change.SAME}


def _counts(change: TaskChange) -> TaskCounts:
    if change.base is None or change.head is None:
        message = f"{change.task} has only one side"
        raise ValueError(message)
    return TaskCounts(
        task=change.task,
        base_passed=change.base.passed,
        base_runs=len(change.base.measured),
        head_passed=change.head.passed,
        head_runs=len(change.head.measured),
    )

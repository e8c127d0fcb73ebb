"""The verdict: a base sample and a head sample in, one decision with its reasons out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from evalgate.core.advice import Advice, advice
from evalgate.core.change import COMPARABLE, Change, TaskChange, change_of, to_json
from evalgate.core.counts import TaskCounts
from evalgate.core.decision import Decision, exit_code_of, is_waiting
from evalgate.core.errored import Errored, errored_of
from evalgate.core.identity import FORMAT
from evalgate.core.json import Json
from evalgate.core.multiplicity import task_p_values
from evalgate.core.outcome_cost import OutcomeCost, outcome_cost
from evalgate.core.policy import Policy
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.signal_change import SignalChange, signal_changes
from evalgate.core.statistics import (
    Difference,
    pass_rate_difference,
    suite_p_value,
)
from evalgate.core.trial import Outcome
from evalgate.errors import ExitCode

#: What a regression may be blocked by, beside single tasks: no task has such a name.
SUITE, FLOOR, ANCHOR = "(suite)", "(floor)", "(anchor)"
#: What is asked of a head whatever its base does: no waiver of the pair is for it.
ABSOLUTE: Final = frozenset({FLOOR, ANCHOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One decision, and everything a person needs to believe or doubt it.

    ``blocked_by`` names what a regression is one by: tasks, the whole suite, a floor, an anchor.
    """

    decision: Decision
    sentence: str
    policy: Policy
    base: Sample | None = None
    head: Sample | None = None
    changes: tuple[TaskChange, ...] = ()
    difference: Difference | None = None
    p_worse: float | None = None
    p_better: float | None = None
    signals: tuple[SignalChange, ...] = ()
    reasons: tuple[str, ...] = ()
    context: Mapping[str, Json] = field(default_factory=dict)
    strict: bool = False
    blocked_by: frozenset[str] = frozenset()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the decision; ``strict`` takes undecided for not measured."""
        return exit_code_of(self.decision, strict=self.strict)

    @property
    def waits(self) -> bool:
        """Whether only a maintainer can measure it: it comes from a fork."""
        return is_waiting(self.decision, fork=self.context.get("fork") is True)

    def of(self, *kinds: Change) -> tuple[TaskChange, ...]:
        """Return the changes of some kinds."""
        return tuple(change for change in self.changes if change.change in kinds)

    @property
    def outcome_costs(self) -> tuple[OutcomeCost | None, OutcomeCost | None]:
        """What a correct outcome costs on either side, on the tasks that can be compared."""
        tasks = [change.task for change in self.of(*COMPARABLE)]
        extra = self.policy.failed_run_usd
        base, head = (
            None if sample is None else outcome_cost(sample, tasks, failed_run_usd=extra)
            for sample in (self.base, self.head)
        )
        return base, head

    @property
    def errored(self) -> Errored | None:
        """The trials of both sides that errored, where any did; those in quarantine left out."""
        out = self.policy.quarantined
        base, head = (
            None if sample is None else sample.without(out) for sample in (self.base, self.head)
        )
        return errored_of(base, head)

    @property
    def advice(self) -> Advice | None:
        """Whether to keep the change, where that can be said."""
        moved = {change.name: change.flag for change in self.signals}.get("cost_usd")
        base, head = self.outcome_costs
        least = self.absolute
        return advice(self.decision, moved, base=base, head=head, floor=least)

    @property
    def absolute(self) -> bool:
        """Tell whether it blocks, and not because the head does worse than its base."""
        return bool(self.blocked_by) and self.blocked_by <= ABSOLUTE

    def to_json(self) -> dict[str, Json]:
        """Return the content of ``verdict.json``."""
        difference, costs, advised = self.difference, self.outcome_costs, self.advice
        return {
            "format": FORMAT,
            "decision": str(self.decision),
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "reasons": list(self.reasons),
            "evidence": str(self.head.evidence) if self.head and self.head.rows else None,
            "recordings": None if self.head is None else self.head.recordings,
            "difference": None if difference is None else difference.to_json(),
            "p_worse": self.p_worse,
            "p_better": self.p_better,
            "errored": None if self.errored is None else self.errored.to_json(),
            "tasks": [to_json(change) for change in self.changes],
            "signals": {change.name: change.to_json() for change in self.signals},
            "usd_per_correct": {
                side: None if cost is None else cost.to_json()
                for side, cost in zip(("base", "head"), costs, strict=True)
            },
            "advice": None if advised is None else advised.to_json(),
            "policy": self.policy.sentence,
            **self.context,
        }


def prepare(base: Sample, head: Sample, policy: Policy, *, doubts: Sequence[str] = ()) -> Verdict:
    """Return a pass that is still to be judged, or the verdict that nothing can be judged."""
    unequal = base.conditions.differences(head.conditions)
    changes = [change_of(name, base, head) for name in sorted({*base.tasks, *head.tasks})]
    changes = [
        replace(change, change=Change.QUARANTINED) if change.task in policy.quarantined else change
        for change in changes
    ]
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
        sentence = "Base and head were measured under different conditions: incomparable."
        return replace(blank, decision=Decision.NO_BASELINE, sentence=sentence, reasons=unequal)
    # Tasks that only the head has would thin out the share that errored.
    deciding = head.without({*policy.quarantined, *(head.tasks.keys() - base.tasks.keys())})
    if policy.not_measured(deciding.errored, len(deciding.rows)):
        return not_measured(blank, deciding)
    lost = [task.task for task in deciding.tasks.values() if task.rows and not task.measured]
    if lost:
        sentence = f"Every trial of {', '.join(lost)} errored: this was not measured."
        reasons = _error_reasons(deciding)
        return replace(blank, decision=Decision.NOT_MEASURED, sentence=sentence, reasons=reasons)
    if not counts_of(changes):
        sentence = "No task of the head can be compared with the base's numbers."
        reasons = tuple(f"{change.task}: {change.why or change.change}" for change in changes)
        return replace(blank, decision=Decision.NO_BASELINE, sentence=sentence, reasons=reasons)
    return blank


def not_measured(blank: Verdict, sample: Sample) -> Verdict:
    """Return the verdict on a sample that errored too often."""
    sentence = (
        f"{sample.errored} of {counted(len(sample.rows), 'trial')} errored, more than "
        f"{blank.policy.max_errored * 100:g} %: this was not measured."
    )
    reasons = _error_reasons(sample)
    return replace(blank, decision=Decision.NOT_MEASURED, sentence=sentence, reasons=reasons)


def marked(blank: Verdict, counts: Sequence[TaskCounts], *, broken: Collection[str]) -> Verdict:
    """Return the verdict with each task's p and the broken ones named, the worst first."""
    tasks = task_p_values(counts)
    changes = tuple(
        replace(
            change,
            p=tasks[change.task].adjusted if change.task in tasks else None,
            change=Change.REGRESSED if change.task in broken else change.change,
        )
        for change in blank.changes
    )
    order = list(Change)
    signals: tuple[SignalChange, ...] = ()
    if blank.base is not None and blank.head is not None:
        names, asked = [count.task for count in counts], [*blank.policy.budgets]
        signals = signal_changes(blank.base, blank.head, names, asked=asked)
    return replace(
        blank,
        signals=signals,
        changes=tuple(sorted(changes, key=lambda c: (order.index(c.change), c.p or 0.0, c.task))),
        difference=pass_rate_difference(counts),
        p_worse=suite_p_value(counts, tail="lower"),
        p_better=suite_p_value(counts, tail="upper"),
    )


def _error_reasons(head: Sample) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for row in head.rows:
        if row.outcome is Outcome.ERRORED:
            seen[row.reason] = seen.get(row.reason, 0) + 1
    return tuple(f"{count} × {reason}" for reason, count in seen.items())


def counts_of(changes: Sequence[TaskChange]) -> list[TaskCounts]:
    """Return how often the tasks passed that can be compared."""
    return [
        TaskCounts(
            task=change.task,
            base_passed=change.base.passed,
            base_runs=len(change.base.measured),
            head_passed=change.head.passed,
            head_runs=len(change.head.measured),
        )
        for change in changes
        if change.change in COMPARABLE and change.base is not None and change.head is not None
    ]

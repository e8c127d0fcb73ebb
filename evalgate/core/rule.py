"""The one-stage rule: when a difference between two samples blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.core.counts import TaskCounts
from evalgate.core.multiplicity import TaskP, task_p_values
from evalgate.core.policy import Policy
from evalgate.core.statistics import pass_rate_difference, suite_p_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the rule says: the suite's mid-p in both directions, and the tasks that broke."""

    p_worse: float
    p_better: float
    tasks: Mapping[str, TaskP]
    broken: frozenset[str]
    worse: bool
    better: bool


def rule(counts: Sequence[TaskCounts], policy: Policy) -> Ruling:
    """Apply the rule to comparable tasks.

    Worse when the suite's exact stratified mid-p for a drop is at most
    ``policy.suite_alpha`` or a task's step-down min-P at most ``policy.task_alpha``;
    better when it is not worse and the mid-p for a gain is at most ``suite_alpha``.
    """
    p_worse = suite_p_value(counts, tail="lower")
    p_better = suite_p_value(counts, tail="upper")
    tasks = task_p_values(counts)
    broken = frozenset(name for name, p in tasks.items() if p.adjusted <= policy.task_alpha)
    worse = p_worse <= policy.suite_alpha or bool(broken)
    return Ruling(
        p_worse=p_worse,
        p_better=p_better,
        tasks=tasks,
        broken=broken,
        worse=worse,
        better=not worse and p_better <= policy.suite_alpha,
    )


def can_block(stored: Mapping[str, tuple[int, int]], policy: Policy, *, runs: int) -> bool:
    """Tell whether the rule could block at all: were every one of ``runs`` new runs to fail.

    ``stored`` holds passes and runs of each task's baseline.
    """
    worst = [
        TaskCounts(task=task, base_passed=passed, base_runs=made, head_passed=0, head_runs=runs)
        for task, (passed, made) in stored.items()
    ]
    return rule(worst, policy).worse


def noise_of(stored: Mapping[str, tuple[int, int]], *, runs: int) -> float:
    """Return the drop that stays open where nothing fell: half the 90 % interval, 0 to 1.

    It is that of ``runs`` new runs of each task which pass as often as its baseline did, of which
    ``stored`` holds passes and runs. ValueError where no task ever ran.
    """
    equal = [
        TaskCounts(
            task=task,
            base_passed=passed,
            base_runs=made,
            head_passed=round(passed / made * runs),
            head_runs=runs,
        )
        for task, (passed, made) in stored.items()
        if made
    ]
    found = pass_rate_difference(equal)
    return found.point - found.low

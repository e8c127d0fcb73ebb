"""The second stage of a live gate: fresh runs of both arms, side by side, agree or do not.

A suspicion of the first stage was found by looking for one, against a baseline that may have been
lucky, or made in better weather. Only what fresh runs of base and head say again, made at the
same time, blocks; and only they give the difference that is reported then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.core.counts import TaskCounts
from evalgate.core.multiplicity import task_p_values
from evalgate.core.rounds import (
    SUITE_ALPHA,
    SUITE_ALPHA_ONCE,
    TASK_ALPHA,
    TASK_ALPHA_EARLY,
    Look,
    most_suspects,
)
from evalgate.core.statistics import Difference, pass_rate_difference, suite_p_value

_SUITE_ALPHA: Final = 0.20
_TASK_ALPHA: Final = 0.05
_MOVED_ALPHA: Final = 0.05
_RUNS: Final = 5
_FEW_RUNS: Final = 3
#: Fresh runs of a task that an arm makes at most, unless more of each are planned.
_MOST_RUNS: Final = 10
#: Fresh runs of an arm that tell a drop of fifteen points or so; suites of 12 tasks make them.
_ARM: Final = 60
#: Fresh runs of an arm that are enough wherever as many of each task are planned.
_ARM_PLANNED: Final = 100
#: The rule of both stages in words.
LIVE_RULE: Final = (
    f"a suspicion (suite mid-p ≤ {SUITE_ALPHA:g}, {SUITE_ALPHA_ONCE:g} at an only look; a task's"
    f" Fisher p ≤ {TASK_ALPHA_EARLY:g}, {TASK_ALPHA:g} at the last) is confirmed by fresh runs of"
    f" both sides (suite mid-p ≤ {_SUITE_ALPHA:g}, a task's Fisher p ≤ {_TASK_ALPHA:g} by their"
    " number)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which tasks are run afresh, and how often in each arm."""

    tasks: tuple[str, ...]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What fresh runs say: whether suite or tasks are worse, and by how much.

    ``p_worse`` is None where the suite was not suspected. ``difference`` is that of the tasks
    that were run, None where none of them could be measured.
    """

    suite: bool
    tasks: tuple[str, ...]
    p_worse: float | None
    difference: Difference | None

    @property
    def worse(self) -> bool:
        """Tell whether the suspicion is confirmed."""
        return self.suite or bool(self.tasks)


def plan_of(found: Look, tasks: Sequence[str], *, planned: int, gain: bool = False) -> Plan:
    """Return what confirms a suspicion: the whole suite, or only the tasks that are suspected.

    Each arm makes 5 fresh runs of a task; 3 where the whole suite is run for a ``gain``, or is
    ``planned`` with fewer than 5. Suites of fewer than 12 tasks make up to 10 of each, for 60 in
    all: five would tell little there. Who plans more of each confirms with as many, for 100 in all.
    """
    if found.suite:
        runs = _suite_runs(1 if gain else planned, tasks=len(tasks))
        return Plan(tasks=tuple(tasks), runs=runs)
    return Plan(tasks=found.tasks, runs=_RUNS)


def confirming_cost(costs: Mapping[str, float], *, planned: int) -> float:
    """Return the most that a confirmation may cost, where one run of each task costs so much."""
    few = sorted(costs.values(), reverse=True)[: most_suspects(planned)]
    whole = _suite_runs(planned, tasks=len(costs)) * math.fsum(costs.values())
    return 2 * max(whole, _RUNS * math.fsum(few))


def most_confirming_runs(planned: int) -> int:
    """Return how many fresh runs of a task an arm makes at most, however few tasks there are."""
    return max(_RUNS, _suite_runs(planned, tasks=1))


def _suite_runs(planned: int, *, tasks: int) -> int:
    if planned < _RUNS:
        return _FEW_RUNS
    few, many = (math.ceil(arm / max(tasks, 1)) for arm in (_ARM, _ARM_PLANNED))
    return max(_RUNS, min(_MOST_RUNS, few), min(planned, many))


def confirm(found: Look, fresh: Sequence[TaskCounts]) -> Confirmation:
    """Hold a suspicion against fresh runs of both arms.

    The suite is worse when its mid-p on the fresh runs alone is at most 0.20; a suspected task
    when its one-sided Fisher p is at most 0.05 by the number of suspected tasks (Bonferroni).
    """
    comparable = [count for count in fresh if count.comparable]
    p_worse = suite_p_value(comparable, tail="lower") if found.suite else None
    raw = {name: p.raw for name, p in task_p_values(comparable).items() if name in found.tasks}
    return Confirmation(
        suite=p_worse is not None and p_worse <= _SUITE_ALPHA,
        tasks=tuple(name for name, p in raw.items() if p <= _TASK_ALPHA / len(found.tasks)),
        p_worse=p_worse,
        difference=pass_rate_difference(comparable) if comparable else None,
    )


def baseline_moved(stored_and_fresh: Sequence[TaskCounts]) -> bool:
    """Tell whether the base itself does worse today than when its baseline was made.

    Each entry holds the stored runs as its base and the fresh runs of the same harness as its
    head. By the suite's mid-p, at 0.05: then the world changed, and not the edit.
    """
    comparable = [count for count in stored_and_fresh if count.comparable]
    return bool(comparable) and suite_p_value(comparable, tail="lower") <= _MOVED_ALPHA

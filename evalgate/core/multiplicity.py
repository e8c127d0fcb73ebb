"""Which single task got worse, with the number of tasks that were looked at paid for."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from evalgate.core.counts import TaskCounts, head_ways


class TaskP(NamedTuple):
    """One task's evidence that it got worse: alone, and adjusted for looking at every task."""

    raw: float
    adjusted: float


def task_p_values(counts: Sequence[TaskCounts]) -> dict[str, TaskP]:
    """Each task's evidence that head got worse, raw and adjusted for the number of tasks.

    Raw is Fisher's exact one-sided p. Adjusted is the step-down min-P of Westfall and Young
    (1993) with the exact discrete null law of every task, as in Tarone (1990): a task too small
    to ever reach a p costs the others nothing. Flagging every task with an adjusted p <= a flags
    an unchanged task in at most a share a of all comparisons.

    Args:
        counts: one entry per task, in any order.

    Returns:
        One entry per task, in the order given. A task with an arm that never ran gets 1 and 1.

    Raises:
        ValueError: when a task is named twice.

    """
    if len({count.task for count in counts}) != len(counts):
        message = "a task is named twice"
        raise ValueError(message)
    ladders: dict[tuple[int, int, int], list[float]] = {}
    for count in counts:
        cell = (count.base_runs, count.head_runs, count.passed)
        if cell not in ladders:
            ladders[cell] = _attainable_p_values(*cell)
    ladder_of = {
        count.task: ladders[count.base_runs, count.head_runs, count.passed] for count in counts
    }
    raw = {
        count.task: ladder_of[count.task][
            count.head_passed - max(0, count.passed - count.base_runs)
        ]
        for count in counts
    }
    adjusted: dict[str, float] = {}
    reached = 0.0
    open_tasks = sorted(raw, key=lambda task: (raw[task], task))
    for position, task in enumerate(open_tasks):
        ladders_left = (ladder_of[other] for other in open_tasks[position:])
        reached = max(reached, raw[task], _chance_of_any(raw[task], ladders_left))
        adjusted[task] = reached
    return {task: TaskP(raw=raw[task], adjusted=adjusted[task]) for task in raw}


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values adjusted for their number (Holm 1979), in the order given."""
    adjusted: dict[str, float] = {}
    reached = 0.0
    for position, name in enumerate(sorted(p_values, key=lambda one: (p_values[one], one))):
        reached = max(reached, min(1.0, (len(p_values) - position) * p_values[name]))
        adjusted[name] = reached
    return {name: adjusted[name] for name in p_values}


def _attainable_p_values(base_runs: int, head_runs: int, passed: int) -> list[float]:
    """Every one-sided Fisher p this task could give, ascending.

    Cumulated as integers and divided once, which Python rounds correctly: equal p-values of
    different tasks are equal floats, so comparing them needs no tolerance.
    """
    total = math.comb(base_runs + head_runs, passed)
    return [ways / total for ways in accumulate(head_ways(base_runs, head_runs, passed))]


def _chance_of_any(p: float, ladders: Iterable[Sequence[float]]) -> float:
    """Chance that at least one unchanged task gives a p-value of at most `p`."""
    if p >= 1:
        return 1.0
    logs = []
    for ladder in ladders:
        rung = bisect_right(ladder, p)
        if rung:
            logs.append(math.log1p(-ladder[rung - 1]))
    return -math.expm1(math.fsum(logs))

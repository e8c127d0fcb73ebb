"""The numbers behind a verdict: did this suite get worse, by how much, and in which task.

The tasks are taken as given and only run-to-run noise counts, so every test here conditions on
each task's own total: how hard a task is drops out, and with it any need for a prior or for a
normal approximation. Nothing is drawn at random; the same counts give the same numbers.

Two arms are compared throughout: *base* (before the edit) and *head* (after it).
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

_ALPHA = 0.05
"""Error allowed on each side of an interval, which makes it a 90 % interval."""

_Z = 1.6448536269514722
"""The standard normal quantile at 1 - _ALPHA."""

_RULE_OF_THREE = -math.log(_ALPHA)
"""Divided by n: the failure rate with which n runs still all pass _ALPHA of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCounts:
    """How often one task passed in each arm; the arms may differ in their number of runs.

    Runs that could not be measured (a provider's timeout, a broken sandbox) are not failures
    and do not belong in these counts.

    Raises:
        ValueError: unless ``0 <= passed <= runs`` in both arms.

    """

    task: str
    base_passed: int
    base_runs: int
    head_passed: int
    head_runs: int

    def __post_init__(self) -> None:
        """Refuse counts that no experiment can give."""
        for arm, passed, runs in (
            ("base", self.base_passed, self.base_runs),
            ("head", self.head_passed, self.head_runs),
        ):
            if not 0 <= passed <= runs:
                message = f"task {self.task!r}: {arm} passed {passed} of {runs} runs"
                raise ValueError(message)

    @property
    def base_rate(self) -> float | None:
        """Share of base runs that passed, in [0, 1]; None when there were none."""
        return self.base_passed / self.base_runs if self.base_runs else None

    @property
    def head_rate(self) -> float | None:
        """Share of head runs that passed, in [0, 1]; None when there were none."""
        return self.head_passed / self.head_runs if self.head_runs else None

    @property
    def comparable(self) -> bool:
        """Whether both arms ran the task at least once."""
        return self.base_runs > 0 and self.head_runs > 0

    @property
    def passed(self) -> int:
        """Passes of both arms together."""
        return self.base_passed + self.head_passed

    @property
    def runs(self) -> int:
        """Runs of both arms together."""
        return self.base_runs + self.head_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Head minus base, as a share (-0.15 is fifteen points down), with its 90 % interval."""

    point: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskP:
    """One task's evidence that it got worse: alone, and adjusted for looking at every task."""

    raw: float
    adjusted: float


def suite_p_value(counts: Sequence[TaskCounts], *, tail: Literal["lower", "upper"]) -> float:
    """Probability of a suite result at least this extreme, had the edit changed nothing.

    The exact conditional test of Mantel and Haenszel with one stratum per task: given a task's
    passes over both arms, those that fell to head follow a hypergeometric law; the laws are
    convolved and the sum over tasks is compared with the observed one. The observed sum itself
    counts half (Lancaster's mid-p, 1961). With one run per arm this is McNemar's mid-p test.

    Args:
        counts: one entry per task, in any order. Tasks with an arm that never ran are ignored;
            tasks that always or never passed in both arms carry no evidence either way.
        tail: ``"lower"`` asks whether head got worse, ``"upper"`` whether it got better. The two
            add up to 1 (to rounding).

    Returns:
        The mid-p in [0, 1]. When no task carries evidence the sum can take one value only and
        the mid-p is exactly 0.5.

    """
    tasks = [count if tail == "lower" else _swapped(count) for count in counts if count.comparable]
    # Sorted, so that the order in which tasks are given cannot change even the last digit.
    cells = sorted((task.base_runs, task.head_runs, task.passed) for task in tasks)
    law = [1.0]
    for base_runs, head_runs, passed in cells:
        law = _convolve(law, _head_law(base_runs, head_runs, passed))
    lowest = sum(max(0, passed - base_runs) for base_runs, _, passed in cells)
    observed = sum(task.head_passed for task in tasks) - lowest
    return min(1.0, math.fsum(law[:observed]) + law[observed] / 2)


def pass_rate_difference(counts: Sequence[TaskCounts]) -> Difference:
    """Mean over tasks of head's pass rate minus base's, with its 90 % interval.

    Every task weighs the same, however often it ran. The half-width is the larger of

    - ``z * sqrt(max(V0, V1)) / tasks``, where V0 is the stratified variance under no change (the
      hypergeometric one of Mantel and Haenszel) and V1 the sum of each arm's own binomial
      variances; both include one odd run in one imaginary task, so that a suite without any
      variation is not taken for one without any noise;
    - the rule of three, ``ln(20) / runs`` of the smaller arm: what never failed in 60 runs may
      still fail in 5 of 100.

    Where tasks differ in their number of runs, the imaginary task has the average number of
    each arm. An arm with a single run of a task shows no variation and adds nothing to V1; V0
    speaks for it. The interval is clipped to [-1, 1].

    Args:
        counts: one entry per task, in any order. Tasks with an arm that never ran are ignored.

    Raises:
        ValueError: when no task ran in both arms, so there is no difference to speak of.

    """
    tasks = [count for count in counts if count.comparable]
    if not tasks:
        message = "no task ran in both arms"
        raise ValueError(message)
    size = len(tasks)
    point = math.fsum(map(_rate_difference, tasks)) / size
    base_total, head_total = _total_runs(tasks)
    base_runs, head_runs = base_total / size, head_total / size
    unchanged = math.fsum(
        (1 / task.base_runs + 1 / task.head_runs) * _shared_variance(task) for task in tasks
    ) + (1 / base_runs + 1 / head_runs) / (base_runs + head_runs)
    changed = (
        math.fsum(
            _rate_variance(task.base_passed, task.base_runs)
            + _rate_variance(task.head_passed, task.head_runs)
            for task in tasks
        )
        + 1 / base_runs**2
        + 1 / head_runs**2
    )
    half = max(
        _Z * math.sqrt(max(unchanged, changed)) / size,
        _RULE_OF_THREE / min(base_total, head_total),
    )
    return Difference(point=point, low=max(-1.0, point - half), high=min(1.0, point + half))


def drop_not_excluded(difference: Difference) -> float:
    """Return the largest drop, as a share >= 0, that the interval still allows."""
    return max(0.0, -difference.low)


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


def about_more_runs(counts: Sequence[TaskCounts], margin: float) -> int | None:
    """About how many more runs would probably decide, if the difference stayed as it is.

    Decided means that the 90 % interval leaves out either no change or a drop of *margin*,
    whichever it is nearer to leaving out. With v the variance of one run within its task and h
    the distance to be left out, the arms' runs must satisfy ``z**2 * v * (1/base + 1/head) <=
    h**2``, and the rule of three in each arm. Solved once with head alone growing (the base runs
    are stored already) and once with both arms growing to the same size.

    A rough guide: the difference will move with the new runs, and the normal approximation of
    :func:`pass_rate_difference` is taken under no change.

    Args:
        counts: one entry per task, in any order. Tasks with an arm that never ran are ignored.
        margin: the drop that must not go unnoticed, as a share > 0 (0.10 is ten points).

    Returns:
        Runs to add over all tasks and arms, by the cheaper of the two ways, in full rounds (one
        run of every task); 0 when by this estimate the runs at hand should do. None when no task
        ran in both arms.

    Raises:
        ValueError: when *margin* is not positive.

    """
    if not margin > 0:
        message = f"the margin must be positive, not {margin}"
        raise ValueError(message)
    tasks = [count for count in counts if count.comparable]
    if not tasks:
        return None
    size = len(tasks)
    base_total, head_total = _total_runs(tasks)
    point = math.fsum(map(_rate_difference, tasks)) / size
    distance = max(-point, point + margin)
    odd_run = size / (base_total + head_total)
    variance = (math.fsum(map(_shared_variance, tasks)) + odd_run) / size
    target = distance**2 / (_Z**2 * variance)  # what 1/base + 1/head must come down to
    least = _RULE_OF_THREE / distance
    each = max(least, 2 / target)
    plans = [_full_rounds(each - base_total, size) + _full_rounds(each - head_total, size)]
    left_for_head = target - 1 / base_total
    if left_for_head > 0 and base_total >= least:
        plans.append(_full_rounds(max(least, 1 / left_for_head) - head_total, size))
    return min(plans)


def _swapped(count: TaskCounts) -> TaskCounts:
    return TaskCounts(
        task=count.task,
        base_passed=count.head_passed,
        base_runs=count.head_runs,
        head_passed=count.base_passed,
        head_runs=count.base_runs,
    )


def _head_ways(base_runs: int, head_runs: int, passed: int) -> list[int]:
    """In how many ways `passed` passes put k of them in head, k from its least to its most."""
    return [
        math.comb(head_runs, k) * math.comb(base_runs, passed - k)
        for k in range(max(0, passed - base_runs), min(head_runs, passed) + 1)
    ]


def _head_law(base_runs: int, head_runs: int, passed: int) -> list[float]:
    total = math.comb(base_runs + head_runs, passed)
    return [ways / total for ways in _head_ways(base_runs, head_runs, passed)]


def _attainable_p_values(base_runs: int, head_runs: int, passed: int) -> list[float]:
    """Every one-sided Fisher p this task could give, ascending.

    Cumulated as integers and divided once, which Python rounds correctly: equal p-values of
    different tasks are equal floats, so comparing them needs no tolerance.
    """
    total = math.comb(base_runs + head_runs, passed)
    return [ways / total for ways in accumulate(_head_ways(base_runs, head_runs, passed))]


def _convolve(left: Sequence[float], right: Sequence[float]) -> list[float]:
    total = [0.0] * (len(left) + len(right) - 1)
    for shift, weight in enumerate(right):
        end = shift + len(left)
        total[shift:end] = [
            sofar + weight * value for sofar, value in zip(total[shift:end], left, strict=True)
        ]
    return total


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


def _total_runs(tasks: Sequence[TaskCounts]) -> tuple[int, int]:
    """Add up the runs of base and of head over all tasks."""
    return sum(task.base_runs for task in tasks), sum(task.head_runs for task in tasks)


def _rate_difference(task: TaskCounts) -> float:
    return task.head_passed / task.head_runs - task.base_passed / task.base_runs


def _shared_variance(task: TaskCounts) -> float:
    """Variance of a single run, both arms taken together."""
    return task.passed * (task.runs - task.passed) / (task.runs * (task.runs - 1))


def _rate_variance(passed: int, runs: int) -> float:
    """Variance of one arm's pass rate; 0 for a single run, which shows no variation."""
    return passed * (runs - passed) / (runs**2 * (runs - 1)) if runs > 1 else 0.0


def _full_rounds(runs: float, size: int) -> int:
    """Round the runs to add up to whole rounds of `size` tasks, never negative."""
    return max(0, math.ceil(runs / size)) * size

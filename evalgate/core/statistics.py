"""The numbers behind a verdict: did this suite get worse, by how much, and in which task.

The tasks are taken as given and only run-to-run noise counts, so every test here conditions on
each task's own total: how hard a task is drops out, and with it any need for a prior or for a
normal approximation. Nothing is drawn at random; the same counts give the same numbers.

Two arms are compared throughout: *base* (before the edit) and *head* (after it).
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalgate.core.counts import TaskCounts, head_ways
from evalgate.core.json import Json
from evalgate.core.normal import normal_quantile

_ALPHA = 0.05
"""Error allowed on each side of an interval, which makes it a 90 % interval."""

_Z = 1.6448536269514722
"""The standard normal quantile at 1 - _ALPHA."""


class Difference(NamedTuple):
    """Head minus base, as a share (-0.15 is fifteen points down), with its 90 % interval."""

    point: float
    low: float
    high: float

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        return {"point": self.point, "low": self.low, "high": self.high}


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
    tasks = [count if tail == "lower" else count.swapped for count in counts if count.comparable]
    # Sorted, so that the order in which tasks are given cannot change even the last digit.
    cells = sorted((task.base_runs, task.head_runs, task.passed) for task in tasks)
    law = [1.0]
    for base_runs, head_runs, passed in cells:
        law = _convolve(law, _head_law(base_runs, head_runs, passed))
    lowest = sum(max(0, passed - base_runs) for base_runs, _, passed in cells)
    observed = sum(task.head_passed for task in tasks) - lowest
    return min(1.0, math.fsum(law[:observed]) + law[observed] / 2)


def pass_rate_difference(counts: Sequence[TaskCounts], *, alpha: float = _ALPHA) -> Difference:
    """Mean over tasks of head's pass rate minus base's, with its interval: 90 % by default.

    Every task weighs the same, however often it ran. The half-width is the larger of

    - ``z * sqrt(max(V0, V1)) / tasks``, where V0 is the stratified variance under no change (the
      hypergeometric one of Mantel and Haenszel) and V1 the sum of each arm's own binomial
      variances; both include one odd run in one imaginary task, so that a suite without any
      variation is not taken for one without any noise;
    - the rule of three, ``ln(1 / alpha) / runs`` of the smaller arm: what never failed in 60
      runs may still fail in 5 of 100.

    Where tasks differ in their number of runs, the imaginary task has the average number of
    each arm. An arm with a single run of a task shows no variation and adds nothing to V1; V0
    speaks for it. The interval is clipped to [-1, 1].

    Args:
        counts: one entry per task, in any order. Tasks with an arm that never ran are ignored.
        alpha: the error allowed on each side, strictly between 0 and 1.

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
    unchanged = _unchanged_variance(tasks)
    changed = (
        math.fsum(
            _rate_variance(task.base_passed, task.base_runs)
            + _rate_variance(task.head_passed, task.head_runs)
            for task in tasks
        )
        + 1 / base_runs**2
        + 1 / head_runs**2
    )
    z = _Z if alpha == _ALPHA else -normal_quantile(alpha)
    half = max(
        z * math.sqrt(max(unchanged, changed)) / size,
        -math.log(alpha) / min(base_total, head_total),
    )
    return Difference(point=point, low=max(-1.0, point - half), high=min(1.0, point + half))


def unchanged_error(counts: Sequence[TaskCounts]) -> float:
    """Return the standard error of the difference in pass rate, had the edit changed nothing.

    The square root of V0 of :func:`pass_rate_difference` by the number of tasks; never 0.

    Raises:
        ValueError: when no task ran in both arms.
    """
    tasks = [count for count in counts if count.comparable]
    if not tasks:
        message = "no task ran in both arms"
        raise ValueError(message)
    return math.sqrt(_unchanged_variance(tasks)) / len(tasks)


def drop_not_excluded(difference: Difference) -> float:
    """Return the largest drop, as a share >= 0, that the interval still allows."""
    return max(0.0, -difference.low)


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
    least = -math.log(_ALPHA) / distance
    each = max(least, 2 / target)
    plans = [_full_rounds(each - base_total, size) + _full_rounds(each - head_total, size)]
    left_for_head = target - 1 / base_total
    if left_for_head > 0 and base_total >= least:
        plans.append(_full_rounds(max(least, 1 / left_for_head) - head_total, size))
    return min(plans)


def _head_law(base_runs: int, head_runs: int, passed: int) -> list[float]:
    total = math.comb(base_runs + head_runs, passed)
    return [ways / total for ways in head_ways(base_runs, head_runs, passed)]


def _convolve(left: Sequence[float], right: Sequence[float]) -> list[float]:
    total = [0.0] * (len(left) + len(right) - 1)
    for shift, weight in enumerate(right):
        end = shift + len(left)
        total[shift:end] = [
            sofar + weight * value for sofar, value in zip(total[shift:end], left, strict=True)
        ]
    return total


def _unchanged_variance(tasks: Sequence[TaskCounts]) -> float:
    """V0: the variance of the summed differences, one odd run in an imaginary task included."""
    size = len(tasks)
    base_total, head_total = _total_runs(tasks)
    base_runs, head_runs = base_total / size, head_total / size
    return math.fsum(
        (1 / task.base_runs + 1 / task.head_runs) * _shared_variance(task) for task in tasks
    ) + (1 / base_runs + 1 / head_runs) / (base_runs + head_runs)


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

"""Soft signals: did tokens, time or turns move, over all tasks, beyond the noise of runs?

Values differ between tasks by orders of magnitude and have heavy tails, so nothing here compares
means: each task is its own stratum, runs are ranked after their task's level is taken out, and
effects are medians of pairs. Tasks are given; only run-to-run noise counts, as in
`evalgate.core.statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from evalgate.core.multiplicity import holm
from evalgate.core.normal import normal_cdf, normal_quantile

#: Values below one unit are taken as one: a logarithm needs something.
_LEAST: Final = 1.0
_ALPHA: Final = 0.05
#: A change smaller than this, as a ratio, is nobody's business however certain it is.
_RATIO: Final = 1.10
_STEPS: Final = 24


class Arms(NamedTuple):
    """One signal's values of one task in both arms."""

    base: tuple[float, ...]
    head: tuple[float, ...]


class Shift(NamedTuple):
    """How one signal moved: head by base as a ratio, else head minus base; and p both ways."""

    point: float
    p_up: float
    p_down: float
    is_ratio: bool


def shift_of(tasks: Sequence[Arms], *, is_ratio: bool = True) -> Shift | None:
    """Compare one signal of both arms over all tasks; None where no task has both.

    The aligned-rank test of Hodges and Lehmann (1962): each task's mean over both arms is
    subtracted, all runs are ranked together (mid-ranks for ties), and the head's sum of ranks is
    compared with its permutation law within tasks, taken as normal. The effect is the median of
    all head-minus-base pairs within tasks. For a ratio logarithms are compared, with values
    below 1 taken as 1; counts with many zeros are compared as they are.
    """
    both = _prepared(tasks, is_ratio=is_ratio)
    if not both:
        return None
    z = _aligned_z(both, 0.0)
    point = median(_pairs(both))
    return Shift(
        point=math.exp(point) if is_ratio else point,
        p_up=normal_cdf(-z),
        p_down=normal_cdf(z),
        is_ratio=is_ratio,
    )


def shift_interval(tasks: Sequence[Arms], *, is_ratio: bool = True) -> tuple[float, float]:
    """Return the 90 % interval of a shift: all values that the same test does not reject.

    Raises:
        ValueError: no task has both arms.
    """
    both = _prepared(tasks, is_ratio=is_ratio)
    if not both:
        message = "no task has this signal in both arms"
        raise ValueError(message)
    critical = normal_quantile(1 - _ALPHA)
    pairs = _pairs(both)
    point = median(pairs)
    low = _last_kept(point, min(pairs), lambda at: _aligned_z(both, at) < critical)
    high = _last_kept(point, max(pairs), lambda at: _aligned_z(both, at) > -critical)
    return (math.exp(low), math.exp(high)) if is_ratio else (low, high)


def flagged(shifts: Mapping[str, Shift]) -> dict[str, str]:
    """Return the signals that moved, each with ``up`` or ``down``.

    A signal is flagged when its p, adjusted by Holm over all signals, is at most 0.05 in one
    direction and the change is worth speaking of: a tenth as a ratio, half a unit otherwise.
    """
    up = holm({name: shift.p_up for name, shift in shifts.items()})
    down = holm({name: shift.p_down for name, shift in shifts.items()})
    found = {}
    for name, shift in shifts.items():
        most, least = (_RATIO, 1 / _RATIO) if shift.is_ratio else (0.5, -0.5)
        if up[name] <= _ALPHA and shift.point >= most:
            found[name] = "up"
        elif down[name] <= _ALPHA and shift.point <= least:
            found[name] = "down"
    return found


def _prepared(tasks: Sequence[Arms], *, is_ratio: bool) -> list[Arms]:
    both = [arms for arms in tasks if arms.base and arms.head]
    if not is_ratio:
        return both
    return [Arms(base=_logs(arms.base), head=_logs(arms.head)) for arms in both]


def _logs(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(math.log(max(value, _LEAST)) for value in values)


def median(values: Sequence[float]) -> float:
    """Return the middle of some values. ValueError when there are none."""
    if not values:
        message = "no median of nothing"
        raise ValueError(message)
    order = sorted(values)
    return (order[(len(order) - 1) // 2] + order[len(order) // 2]) / 2


def _pairs(tasks: Sequence[Arms]) -> list[float]:
    return [head - base for arms in tasks for head in arms.head for base in arms.base]


def _aligned_z(tasks: Sequence[Arms], shift: float) -> float:
    """Return the standardised rank sum of the head once ``shift`` is taken off its values."""
    values: list[float] = []
    strata: list[tuple[int, int]] = []
    for arms in tasks:
        run = [*arms.base, *(value - shift for value in arms.head)]
        level = math.fsum(run) / len(run)
        values += (value - level for value in run)
        strata.append((len(arms.base), len(arms.head)))
    ranks = _mid_ranks(values)
    start, sum_head, expected, variance = 0, 0.0, 0.0, 0.0
    for base, head in strata:
        own = ranks[start : start + base + head]
        start += base + head
        size, mean = len(own), math.fsum(own) / len(own)
        sum_head += math.fsum(own[base:])
        expected += head * mean
        spread = math.fsum((rank - mean) ** 2 for rank in own)
        variance += base * head * spread / (size * (size - 1))
    return (sum_head - expected) / math.sqrt(variance) if variance > 0 else 0.0


def _mid_ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones, to rounding, share the mean of theirs."""
    scale = max(map(abs, values), default=0.0) * 1e-12
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and values[order[end]] - values[order[end - 1]] <= scale:
            continue
        for index in order[start:end]:
            ranks[index] = (start + 1 + end) / 2
        start = end
    return ranks


def _last_kept(inside: float, outside: float, kept: Callable[[float], bool]) -> float:
    """Return the value farthest towards ``outside`` that is kept, by bisection."""
    if kept(outside):
        return outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if kept(middle):
            inside = middle
        else:
            outside = middle
    return inside

"""Rates and differences in the words of a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from evalgate.core.counts import TaskCounts
from evalgate.core.statistics import Difference


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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in *1 task*, *2 tasks*, *2 harnesses* and *2 entries*."""
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ie" if noun[-1] == "y" else f"{noun}e" if noun[-1] == "s" else noun
    return f"{number} {many}s"


def rate(counts: Sequence[TaskCounts], side: Literal["base", "head"]) -> str:
    """Return the mean pass rate of one side."""
    return mean_percent(
        (getattr(one, f"{side}_passed"), getattr(one, f"{side}_runs")) for one in counts
    )


def mean_percent(tasks: Iterable[tuple[int, int]]) -> str:
    """Return the mean over tasks of their pass rates; each has its passes and its runs.

    A verdict's difference is one of such means: tasks with more runs weigh no more.
    """
    known = [(passed, runs) for passed, runs in tasks if runs]
    if not known:
        return "unknown"
    shown = round(100 * math.fsum(passed / runs for passed, runs in known) / len(known))
    if any(passed < runs for passed, runs in known):
        shown = min(shown, 99)
    if any(passed for passed, _ in known):
        shown = max(shown, 1)
    return f"{shown} %"

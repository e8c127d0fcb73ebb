"""The first stage of a live gate: after each round, suspicion, an answer, or another round.

Runs of the head are looked at a few times while they are made. A look may end the gate with an
answer, but never with a block: what looks worse is a suspicion, to be confirmed by fresh runs of
both arms (`evalgate.core.confirmation`). The level of the suite is one constant for all looks
(Pocock 1977); together they suspect about 0.15 of unchanged suites, as a single look does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from evalgate.core.counts import TaskCounts
from evalgate.core.multiplicity import task_p_values
from evalgate.core.normal import normal_cdf, normal_quantile
from evalgate.core.statistics import (
    Difference,
    pass_rate_difference,
    suite_p_value,
    unchanged_error,
)

#: Suspicion of the suite: mid-p at one of several looks, and at an only one.
SUITE_ALPHA: Final = 0.08
SUITE_ALPHA_ONCE: Final = 0.15
#: Suspicion of a task: one-sided Fisher p at an early look, and at the last.
TASK_ALPHA_EARLY: Final = 0.05
TASK_ALPHA: Final = 0.15
_MOST_TASKS: Final = 3
#: With one run of a task no p can be small: then this drop of its rate is suspicion enough.
_FLIP: Final = 0.5
_MOST_FLIPS: Final = 5
#: A task that passed so often is looked after until it passes again.
_STRONG: Final = 0.8
#: Error of the lower bound at one look; over all looks it comes to 0.05.
_OK_ALPHA: Final = 0.02
#: With less than this chance left to become suspicious, no further round is made.
_FUTILE: Final = 0.20
#: Suites with so few runs a task are looked at once: stopping early would miss a broken task.
_ONCE: Final = 3


class Sign(StrEnum):
    """What a look says."""

    SUSPECT = "suspect"
    OK = "ok"
    NO_SIGN = "no sign of a drop"
    MORE = "more runs"
    UNDECIDED = "undecided"


class Look(NamedTuple):
    """What the runs so far say; ``suite`` and ``tasks`` are what is suspected."""

    sign: Sign
    p_worse: float
    difference: Difference
    suite: bool
    tasks: tuple[str, ...]


def looks(runs: int) -> tuple[int, ...]:
    """Return after how many runs of each task is looked, the last of them ``runs``.

    5 gives 2, 3, 4, 5 and 10 gives 2, 4, 6, 8, 10; up to 3 runs are looked at once.

    Raises:
        ValueError: fewer than one run.
    """
    if runs < 1:
        message = f"no look at {runs} runs"
        raise ValueError(message)
    if runs <= _ONCE:
        return (runs,)
    step = max(1, round(runs / 5))
    first = max(2, step)
    return (*range(first, runs, step), runs)


def look(
    counts: Sequence[TaskCounts], *, runs: int, planned: int, margin: float, prove: bool = False
) -> Look:
    """Look at the runs so far: ``runs`` of each task of the head, of ``planned``.

    A suspicion comes first: the suite's mid-p at or below its level, or a task's Fisher p at or
    below its own (the three smallest; with one run a task, the five that fell most). Without one,
    ``ok`` when a drop of ``margin`` is excluded, ``no sign of a drop`` when the chance to become
    suspicious yet, if the true drop were the margin, is below 0.2 (conditional power: Lan, Simon
    and Halperin 1982; never with ``prove``), another round while there is one, else undecided.
    While a task that used to pass four times in five has not passed once, no answer comes early.

    Raises:
        ValueError: no task ran in both arms.
    """
    last = runs >= planned
    alpha = SUITE_ALPHA_ONCE if len(looks(planned)) == 1 else SUITE_ALPHA
    p_worse = suite_p_value(counts, tail="lower")
    difference = pass_rate_difference(counts)
    suite = p_worse <= alpha
    tasks = _suspects(counts, last=last or suite)
    if suite or tasks:
        sign = Sign.SUSPECT
    elif not last and any(map(_looks_broken, counts)):
        sign = Sign.MORE
    elif pass_rate_difference(counts, alpha=_OK_ALPHA).low > -margin:
        sign = Sign.OK
    elif last:
        sign = Sign.UNDECIDED
    elif not prove and _chance_left(counts, runs / planned, margin, alpha) < _FUTILE:
        sign = Sign.NO_SIGN
    else:
        sign = Sign.MORE
    return Look(sign=sign, p_worse=p_worse, difference=difference, suite=suite, tasks=tasks)


def most_suspects(planned: int) -> int:
    """Return how many tasks a look may suspect, where so many runs of each are planned."""
    return _MOST_FLIPS if planned == 1 else _MOST_TASKS


def look_up(counts: Sequence[TaskCounts], *, alpha: float) -> Look:
    """Look for news too good to be taken as they are, when nothing was suspected.

    Suspected are a suite whose mid-p for a gain is at most ``alpha``, and tasks that never passed
    before and whose Fisher p for a gain is at most 0.05 (the three smallest).

    Raises:
        ValueError: no task ran in both arms.
    """
    upside = [count.swapped for count in counts if count.comparable]
    p_better = suite_p_value(counts, tail="upper")
    never = {count.task for count in counts if count.base_passed == 0}
    ps = sorted((p.raw, name) for name, p in task_p_values(upside).items() if name in never)
    tasks = tuple(name for p, name in ps if p <= TASK_ALPHA_EARLY)[:_MOST_TASKS]
    suite = p_better <= alpha
    return Look(
        sign=Sign.SUSPECT if suite or tasks else Sign.OK,
        p_worse=1 - p_better,
        difference=pass_rate_difference(counts),
        suite=suite,
        tasks=tasks,
    )


def _suspects(counts: Sequence[TaskCounts], *, last: bool) -> tuple[str, ...]:
    tasks = [count for count in counts if count.comparable]
    if all(task.head_runs == 1 for task in tasks):
        fell = sorted(
            (task.head_passed - task.base_passed / task.base_runs, task.task) for task in tasks
        )
        return tuple(name for drop, name in fell if drop <= -_FLIP)[:_MOST_FLIPS]
    alpha = TASK_ALPHA if last else TASK_ALPHA_EARLY
    found = sorted((p.raw, name) for name, p in task_p_values(tasks).items())
    return tuple(name for p, name in found if p <= alpha)[:_MOST_TASKS]


def _looks_broken(count: TaskCounts) -> bool:
    passed = count.comparable and count.base_passed >= _STRONG * count.base_runs
    return passed and not count.head_passed


def _chance_left(counts: Sequence[TaskCounts], share: float, margin: float, alpha: float) -> float:
    """Return the chance that the last look suspects the suite, were the true drop the margin.

    ``share`` is that of the head's runs that are made; t is the share of the information.
    """
    tasks = [count for count in counts if count.comparable]
    base, head = (
        sum(task.base_runs for task in tasks) / len(tasks),
        sum(task.head_runs for task in tasks) / len(tasks),
    )
    t = (1 / base + share / head) / (1 / base + 1 / head)
    error = unchanged_error(tasks)
    z = pass_rate_difference(tasks).point / error
    ahead = margin / (error * math.sqrt(t)) * (1 - t)
    critical = normal_quantile(alpha)
    return normal_cdf((critical - z * math.sqrt(t) + ahead) / math.sqrt(1 - t))

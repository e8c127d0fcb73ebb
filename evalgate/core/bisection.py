"""Which of several changes broke a task, from trials that pass and fail by chance.

The states of a harness stand in the order of history, each change between two of them. First
both ends are run until the bad one is seen to pass less often (Fisher's exact test at each of a
few looks, their errors added up: Bonferroni). Then a probability is kept for each change that it
is the one, the rates on both sides of it unknown, and the state is run whose next trial tells
most: the Bayesian bisection of Horstein (1963) and Burnashev and Zigangirov (1974), with the
expected gain of information as its criterion (Jedynak, Frazier and Sznitman 2012).

One generator holds the whole procedure, so that the command and the simulation of its errors go
through the same steps. It runs nothing itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evalgate.core.counts import TaskCounts
from evalgate.core.multiplicity import task_p_values

#: Passes and measured runs of each state, from the good end to the bad one.
Counts = tuple[tuple[int, int], ...]

#: Runs of each end after which it is looked whether they differ, and what error all looks
#: together may have.
_LOOKS: Final = (3, 5, 10, 20, 40)
_ALPHA: Final = 0.05
#: From here on ends of which the bad one passes no less often are taken for equal.
_FUTILE: Final = 10
#: How sure it is when a change is named.
SURE: Final = 0.97
#: Trials between the ends that are made at most, and how often a state may give none.
MOST_BETWEEN: Final = 100
_PATIENCE: Final = 3
#: Rates that are thought possible, and the least step down between them: fifteen points.
_RATES: Final = tuple((2 * place + 1) / 40 for place in range(20))
_STEP: Final = 3


class Ending(StrEnum):
    """How a bisection ends."""

    FOUND = "found"
    SAME = "the ends do not differ"
    OPEN = "not told apart"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is wanted: so many more trials of one state."""

    state: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """How it ended: the probability of each change, the first one at 0, and which are named.

    Several are named where no state between them can be measured.
    """

    ending: Ending
    counts: Counts
    probabilities: tuple[float, ...]
    named: tuple[int, ...] = ()


def bisection(
    counts: Counts, *, batch: int = 1, most: int = _LOOKS[-1]
) -> Generator[Ask, Counts, Bisection]:
    """Go from what is known of the states to the change that broke the task.

    Yields what is to be run next and is sent the counts as they are then. ``batch`` trials are
    made at once between the ends, and of each end ``most`` at most.

    Raises:
        ValueError: fewer than two states.
    """
    if len(counts) < 2:  # noqa: PLR2004 - a change lies between two
        message = "there is no change between fewer than two states"
        raise ValueError(message)
    ending, counts = yield from _ends(counts, most)
    if ending is not Ending.FOUND:
        return Bisection(ending=ending, counts=counts, probabilities=beliefs(counts))
    start = _total(counts)
    silence = [0] * len(counts)
    while True:
        probabilities = beliefs(counts)
        silent = [state for state, times in enumerate(silence) if times >= _PATIENCE]
        groups = _groups(counts, silent)
        best = max(groups, key=lambda group: sum(probabilities[one] for one in group))
        if sum(probabilities[one] for one in best) >= SURE:
            named, ending = tuple(best), Ending.FOUND
            break
        wanted = _most_telling(counts, silent)
        if wanted is None or _total(counts) - start >= MOST_BETWEEN:
            named, ending = (), Ending.OPEN
            break
        before = counts[wanted][1]
        counts = yield Ask(state=wanted, runs=batch)
        silence[wanted] = 0 if counts[wanted][1] > before else silence[wanted] + 1
    return Bisection(ending=ending, counts=counts, probabilities=probabilities, named=named)


def _ends(counts: Counts, most: int) -> Generator[Ask, Counts, tuple[Ending, Counts]]:
    """Run both ends until they differ, or are seen not to."""
    looks = [*(look for look in _LOOKS if look < most), most]
    for look in looks:
        for end in (0, len(counts) - 1):
            for _ in range(_PATIENCE):
                if counts[end][1] < look:
                    counts = yield Ask(state=end, runs=look - counts[end][1])
            if not counts[end][1]:
                return Ending.NOT_MEASURED, counts
        good, bad = counts[0], counts[-1]
        if _p_of_drop(good, bad) <= _ALPHA / len(looks):
            return Ending.FOUND, counts
        if look >= _FUTILE and bad[0] * good[1] >= good[0] * bad[1]:
            break
    return Ending.SAME, counts


def _p_of_drop(good: tuple[int, int], bad: tuple[int, int]) -> float:
    ends = TaskCounts(
        task="",
        base_passed=good[0],
        base_runs=good[1],
        head_passed=bad[0],
        head_runs=bad[1],
    )
    return task_p_values([ends])[""].raw


@dataclass(frozen=True, slots=True, kw_only=True)
class _Belief:
    """One change as the one that broke it: how likely, and the rates before and after it."""

    log: float
    before: float
    after: float


def beliefs(counts: Counts) -> tuple[float, ...]:
    """Return the probability of each change that it broke the task, given that one did.

    Beforehand each is as likely as the others, and so is each pair of rates with a step down of
    fifteen points or more between them.
    """
    return _shares(_believed(counts))


def _shares(believed: Sequence[_Belief]) -> tuple[float, ...]:
    top = max(one.log for one in believed)
    if math.isinf(top):  # none of them is thought possible
        return (1 / len(believed),) * len(believed)
    weights = [math.exp(one.log - top) for one in believed]
    whole = math.fsum(weights)
    return tuple(weight / whole for weight in weights)


def _believed(counts: Counts) -> list[_Belief]:
    each = [
        [passed * math.log(rate) + (runs - passed) * math.log(1 - rate) for rate in _RATES]
        for passed, runs in counts
    ]
    total = [math.fsum(column) for column in zip(*each, strict=True)]
    before = [0.0] * len(_RATES)
    found = []
    for state in each[:-1]:
        before = [old + new for old, new in zip(before, state, strict=True)]
        after = [whole - old for whole, old in zip(total, before, strict=True)]
        found.append(_belief(before, after))
    return found


def _belief(before: Sequence[float], after: Sequence[float]) -> _Belief:
    """Weigh all pairs of rates, by the logarithms of what each side says of each rate."""
    top = max(before), max(after)
    low = mean_low = evidence = mean_before = mean_after = 0.0
    for place in range(_STEP, len(_RATES)):
        weight = math.exp(after[place - _STEP] - top[1])
        low += weight
        mean_low += weight * _RATES[place - _STEP]
        high = math.exp(before[place] - top[0])
        evidence += high * low
        mean_before += high * low * _RATES[place]
        mean_after += high * mean_low
    if not evidence:  # a rise: nothing that is thought possible
        return _Belief(log=-math.inf, before=0.5, after=0.5)
    log = top[0] + top[1] + math.log(evidence)
    return _Belief(log=log, before=mean_before / evidence, after=mean_after / evidence)


def _groups(counts: Counts, silent: Sequence[int]) -> list[list[int]]:
    """Return the changes, together where no measured state lies between them."""
    groups = [[0]]
    for change in range(1, len(counts) - 1):
        if change in silent and not counts[change][1]:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _most_telling(counts: Counts, silent: Sequence[int]) -> int | None:
    """Return the state between the ends whose next trial tells most, None without one."""
    believed = _believed(counts)
    shares = _shares(believed)
    gains: dict[int, float] = {}
    for state in range(1, len(counts) - 1):
        if state in silent:
            continue
        # The change numbered c lies between the states c and c + 1.
        chances = [one.before if state <= c else one.after for c, one in enumerate(believed)]
        mixed = math.fsum(share * one for share, one in zip(shares, chances, strict=True))
        left = math.fsum(share * _entropy(one) for share, one in zip(shares, chances, strict=True))
        gains[state] = _entropy(mixed) - left
    return max(gains, key=gains.__getitem__, default=None)


def _entropy(chance: float) -> float:
    if not 0 < chance < 1:
        return 0.0
    return -chance * math.log(chance) - (1 - chance) * math.log(1 - chance)


def _total(counts: Counts) -> int:
    return sum(runs for _, runs in counts)


def made_up(
    counts: Counts, *, culprit: int, rates: tuple[float, float], rng: random.Random
) -> Bisection:
    """Go through a bisection whose truth is given: the change, and the rates on both sides."""
    steps = bisection(counts)
    known = list(counts)
    ask = next(steps)
    while True:
        rate = rates[0] if ask.state <= culprit else rates[1]
        passed, runs = known[ask.state]
        passed += sum(rng.random() < rate for _ in range(ask.runs))
        known[ask.state] = passed, runs + ask.runs
        try:
            ask = steps.send(tuple(known))
        except StopIteration as end:
            found: Bisection = end.value
            return found

"""Which change broke a task: the right one is named, by few trials, and none without a drop."""

from __future__ import annotations

import random

import pytest

from evalgate.core.bisection import (
    MOST_BETWEEN,
    SURE,
    Ask,
    Bisection,
    Counts,
    Ending,
    beliefs,
    bisection,
    made_up,
)


def many(states: int, rates: tuple[float, float], times: int) -> list[tuple[int, Bisection]]:
    """Return the true change, and what became of it, of many bisections."""
    rng = random.Random(f"{states} {rates}")
    found = []
    for _ in range(times):
        culprit = rng.randrange(states - 1)
        nothing: Counts = ((0, 0),) * states
        found.append((culprit, made_up(nothing, culprit=culprit, rates=rates, rng=rng)))
    return found


def trials(found: Bisection) -> int:
    return sum(runs for _, runs in found.counts)


@pytest.mark.parametrize("states", [2, 5, 16])
def test_a_task_that_broke_outright_is_found(states: int) -> None:
    """100 → 0: the right commit at least 95 times in a hundred, by two trials a halving or so."""
    ended = many(states, (1.0, 0.0), 100)
    assert sum(one.named == (culprit,) for culprit, one in ended) >= 95
    assert max(trials(one) for _, one in ended) <= 20
    assert all(one.probabilities[one.named[0]] >= SURE for _, one in ended)


def test_a_task_that_fell_by_half_takes_many_trials() -> None:
    """80 → 40: seldom the wrong commit, sometimes none; about 90 trials at 8 states."""
    ended = many(8, (0.8, 0.4), 100)
    wrong = sum(bool(one.named) and one.named != (culprit,) for culprit, one in ended)
    right = sum(one.named == (culprit,) for culprit, one in ended)
    assert wrong <= 5
    assert right >= 65
    assert 70 <= sum(trials(one) for _, one in ended) / 100 <= 130


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_without_a_drop_no_commit_is_named(rate: float) -> None:
    """In at most 5 % of cases by chance."""
    ended = many(6, (rate, rate), 300)
    assert sum(one.ending is not Ending.SAME for _, one in ended) <= 15
    assert all(one.named == () for _, one in ended if one.ending is Ending.SAME)


def test_a_rise_is_no_drop() -> None:
    """The ends are run no further once the bad one does as well."""
    for _, one in many(4, (0.2, 0.9), 20):
        assert one.ending is Ending.SAME
        assert trials(one) <= 20


def test_what_is_known_is_not_asked_for() -> None:
    """With both ends measured, only what lies between them is run; with all of it, nothing."""
    ends = ((20, 20), (0, 0), (0, 0), (0, 20))
    steps = bisection(ends)
    ask = next(steps)
    assert ask.state in {1, 2}
    assert ask.runs == 1
    with pytest.raises(StopIteration) as end:
        next(bisection(((20, 20), (19, 20), (1, 20), (0, 20))))
    assert end.value.value.named == (1,)


def test_one_change_is_the_one() -> None:
    """Where the ends differ and there is but one change between them."""
    with pytest.raises(StopIteration) as end:
        next(bisection(((10, 10), (0, 10))))
    assert end.value.value.named == (0,)
    with pytest.raises(ValueError, match="fewer than two"):
        next(bisection(((1, 1),)))


def drive(silent: set[int], culprit: int, states: int) -> Bisection:
    """Go through a bisection in which some states can not be measured."""
    known: list[tuple[int, int]] = [(0, 0)] * states
    steps = bisection(tuple(known))
    ask: Ask = next(steps)
    while True:
        if ask.state not in silent:
            passed, runs = known[ask.state]
            good = ask.state <= culprit
            known[ask.state] = passed + ask.runs * good, runs + ask.runs
        try:
            ask = steps.send(tuple(known))
        except StopIteration as end:
            found: Bisection = end.value
            return found


def test_states_that_can_not_be_measured_leave_several_changes() -> None:
    """All of them are named; at an end nothing can be said."""
    found = drive({2, 3}, 2, 6)
    assert (found.ending, found.named) == (Ending.FOUND, (1, 2, 3))
    assert drive({0}, 1, 3).ending is Ending.NOT_MEASURED
    assert drive({2}, 1, 3).ending is Ending.NOT_MEASURED
    assert drive({1}, 1, 3).named == (0, 1)


def test_it_comes_to_an_end() -> None:
    """However little the states differ: so many trials between the ends, and no more."""
    for _, one in many(20, (0.6, 0.35), 10):
        assert sum(runs for _, runs in one.counts[1:-1]) <= MOST_BETWEEN


def test_beliefs_are_probabilities() -> None:
    """Equal where nothing is known, and none of them undefined for numbers that contradict."""
    assert beliefs(((0, 0),) * 5) == pytest.approx([0.25] * 4)
    for counts in (((0, 500), (500, 500)), ((0, 90), (90, 90), (0, 90)), ((9, 9), (0, 9), (9, 9))):
        assert sum(beliefs(counts)) == pytest.approx(1)

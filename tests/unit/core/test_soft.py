"""Soft signals against permutations and their own laws, and creep against an anchor."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.drift import ANCHOR, creep_of
from evalgate.core.multiplicity import holm
from evalgate.core.soft import Arms, Shift, flagged, median, shift_interval, shift_of

values = st.lists(st.floats(0, 1e6), min_size=1, max_size=6).map(tuple)
some_arms = st.lists(st.builds(Arms, base=values, head=values), min_size=1, max_size=6)


def drawn(seed: int, factor: float, *, tasks: int = 6, runs: int = 5) -> list[Arms]:
    """Draw tasks of very different levels, with the head's values multiplied."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(tasks):
        level = math.exp(rng.normal(8, 1))
        base, head = level * np.exp(rng.normal(0, 0.2, (2, runs)))
        found.append(Arms(base=tuple(base), head=tuple(head * factor)))
    return found


def permutation_p(tasks: list[Arms], *, rounds: int = 20_000) -> float:
    """Return the upper-tail p of the head's aligned ranks by permuting within tasks."""
    rng = np.random.default_rng(0)
    aligned = [np.log((*arms.base, *arms.head)) for arms in tasks]
    aligned = [run - run.mean() for run in aligned]
    ranks = np.split(
        scipy.stats.rankdata(np.concatenate(aligned)), np.cumsum([len(run) for run in aligned])[:-1]
    )
    heads = [len(arms.base) for arms in tasks]
    seen = sum(own[at:].sum() for own, at in zip(ranks, heads, strict=True))
    drawn_sums = sum(
        rng.permuted(np.tile(own, (rounds, 1)), axis=1)[:, at:].sum(axis=1)
        for own, at in zip(ranks, heads, strict=True)
    )
    return float((np.mean(drawn_sums >= seen - 1e-9) + np.mean(drawn_sums > seen + 1e-9)) / 2)


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.25])
@pytest.mark.parametrize("seed", range(4))
def test_the_test_is_that_of_permutations(seed: int, factor: float) -> None:
    """The normal law comes close to all orders of the runs within their tasks."""
    tasks = drawn(seed, factor)
    shift = shift_of(tasks)
    assert shift is not None
    assert shift.p_up == pytest.approx(permutation_p(tasks), abs=0.012)


@given(some_arms)
def test_directions_add_up(tasks: list[Arms]) -> None:
    """And exchanging the arms exchanges them."""
    shift = shift_of(tasks)
    back = shift_of([Arms(base=arms.head, head=arms.base) for arms in tasks])
    assert shift is not None
    assert back is not None
    assert shift.p_up + shift.p_down == pytest.approx(1)
    assert back.p_up == pytest.approx(shift.p_down, abs=1e-6)
    assert back.point * shift.point == pytest.approx(1, rel=1e-6)


@given(some_arms)
def test_an_interval_holds_its_point(tasks: list[Arms]) -> None:
    """And is one of numbers."""
    shift = shift_of(tasks, is_ratio=False)
    low, high = shift_interval(tasks, is_ratio=False)
    assert shift is not None
    assert low <= shift.point <= high


def test_what_never_moves_has_no_evidence() -> None:
    """Equal values in all runs."""
    shift = shift_of([Arms(base=(5.0,) * 5, head=(5.0,) * 5)] * 3)
    assert shift == Shift(point=1.0, p_up=0.5, p_down=0.5, is_ratio=True)


def test_a_task_with_one_arm_says_nothing() -> None:
    """Nor does nothing at all."""
    assert shift_of([Arms(base=(1.0,), head=())]) is None
    assert shift_of([]) is None
    with pytest.raises(ValueError, match="no task"):
        shift_interval([])


def test_the_interval_holds_the_truth_about_nine_times_in_ten() -> None:
    """In 200 suites; the published coverage of this interval is 88 to 90 %."""
    held = 0
    for seed in range(200):
        low, high = shift_interval(drawn(seed, 1.2))
        held += low <= 1.2 <= high
    assert held / 200 == pytest.approx(0.9, abs=0.07)


def test_holm_is_that_of_the_textbook() -> None:
    """Step by step, never falling, never above 1."""
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.5})
    assert found == pytest.approx({"a": 0.04, "b": 0.09, "c": 0.09, "d": 0.5})
    assert holm({}) == {}


def test_only_what_is_sure_and_large_is_flagged() -> None:
    """Both are needed."""
    sure_and_small = Shift(point=1.05, p_up=1e-6, p_down=1.0, is_ratio=True)
    large_and_unsure = Shift(point=1.8, p_up=0.03, p_down=0.97, is_ratio=True)
    fell = Shift(point=0.7, p_up=1.0, p_down=1e-5, is_ratio=True)
    files = Shift(point=2.0, p_up=1e-4, p_down=1.0, is_ratio=False)
    shifts = {"turns": sure_and_small, "time": large_and_unsure, "cost": fell, "files": files}
    assert flagged(shifts) == {"cost": "down", "files": "up"}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_median_is_that_of_numpy(found: list[float]) -> None:
    """Which the gate does not import."""
    assert median(found) == pytest.approx(float(np.median(found)))


def test_creep_is_seen_against_the_anchor() -> None:
    """A percent a week, within half a year; the same noise without it gives no alarm."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.09, ANCHOR + 26)
    calm = creep_of(list(noise))
    assert calm is not None
    assert not calm.alarm
    growing = [value + 0.01 * max(0, n - ANCHOR + 1) for n, value in enumerate(noise)]
    crept = creep_of(growing)
    assert crept is not None
    assert crept.alarm
    assert crept.sessions == 26


def test_an_anchor_alone_says_nothing() -> None:
    """And one of a single session can not be one."""
    assert creep_of([1.0] * ANCHOR) is None
    with pytest.raises(ValueError, match="no deviation"):
        creep_of([1.0, 2.0], anchor=1)


def test_the_newest_session_weighs_a_fifth() -> None:
    """By hand: an anchor of 0 and 2 has mean 1 and deviation root two."""
    found = creep_of([0.0, 2.0, 1 + math.sqrt(2), 1 + math.sqrt(2)], anchor=2)
    assert found is not None
    assert found.average == pytest.approx(0.2 + 0.2 * 0.8)

"""What is said of a gate before any trial is made."""

from __future__ import annotations

import itertools

import pytest
from scipy import stats

from evalgate.core.foresight import blind, noisy, too_small, unlucky
from evalgate.core.policy import Policy


def test_a_suite_that_is_too_small_is_known_without_a_baseline() -> None:
    """One trial of a few tasks blocks nothing; the usual suites can."""
    (said,) = too_small(2, Policy(), runs=1)
    assert said.startswith("1 trial of 2 tasks could never block")
    assert not too_small(12, Policy(), runs=5)
    assert not too_small(0, Policy(), runs=5)


def test_what_a_baseline_leaves_open_is_said() -> None:
    """A baseline that never passed shows no drop; a narrow margin is lost in the noise."""
    assert "nothing could ever block" in blind({"a": (0, 20)}, Policy(), runs=5)[0]
    many = {f"t{n}": (10, 20) for n in range(12)}
    assert blind(many, Policy(), runs=5) == ()
    assert "policy.margin (3) lies within the noise" in noisy(many, Policy(margin=0.03), runs=5)[0]
    assert noisy(many, Policy(margin=0.5), runs=5) == ()
    assert noisy({"never ran": (0, 0)}, Policy(margin=0.0), runs=5) == ()


@pytest.mark.parametrize("floor", [0.3, 0.45, 0.5, 0.6, 0.75])
@pytest.mark.parametrize(("tasks", "runs"), [(1, 5), (4, 5), (12, 3), (12, 20)])
def test_a_floor_within_the_noise_is_said_with_how_often_it_blocks(
    floor: float, tasks: int, runs: int
) -> None:
    """As often as the exact binomial says, to a few points; seldom enough is not worth a word."""
    stored = {f"t{n}": (11, 20) for n in range(tasks)}
    total = tasks * runs
    least = next(n for n in itertools.count() if n / total >= floor)
    exact = float(stats.binom.cdf(least - 1, total, 11 / 20))
    said = unlucky(stored, Policy(min_pass_rate=floor), runs=runs)
    if said:
        share = int(said[0].split("about ")[1].split(" %")[0]) / 100
        assert share == pytest.approx(exact, abs=0.04)
        assert f"policy.min_pass_rate ({100 * floor:g} %) lies within the noise" in said[0]
    else:
        assert exact < 0.08


def test_a_task_that_must_pass_and_does_not_always_is_named() -> None:
    """With how often an unchanged harness is blocked by it; a sure one is not."""
    stored = {"a": (18, 20), "b": (20, 20)}
    (said,) = unlucky(stored, Policy(must_pass=("a", "b", "unknown")), runs=5)
    assert said.startswith("policy.must_pass: a passed 18 of 20 in the baseline")
    assert "about 41 % of gates of 5 trials block" in said
    assert unlucky({"b": (20, 20)}, Policy(must_pass=("b",), min_pass_rate=1.0), runs=5) == ()
    assert unlucky({"b": (0, 0)}, Policy(must_pass=("b",), min_pass_rate=1.0), runs=5) == ()

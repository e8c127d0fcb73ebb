"""What a correct outcome costs: by hand, by simulation, and where too little is known."""

from __future__ import annotations

import math
import random

import pytest

from evalgate.core.identity import Conditions
from evalgate.core.outcome_cost import outcome_cost
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome, Signals


def sample_of(runs: dict[str, list[tuple[float | None, bool]]]) -> Sample:
    tasks = {
        name: TaskSample(
            task=name,
            digest=name,
            rows=tuple(
                Row(
                    n=n,
                    outcome=Outcome.PASSED if passed else Outcome.FAILED,
                    signals=Signals(cost_usd=usd),
                )
                for n, (usd, passed) in enumerate(pairs, 1)
            ),
        )
        for name, pairs in runs.items()
    }
    return Sample(
        fingerprint="f",
        conditions=Conditions(sandbox="", agent=""),
        tasks=tasks,
        evidence=Evidence.MEASURED,
    )


def test_it_is_the_money_of_all_runs_by_those_that_passed():
    """Every task weighs the same; who reads a failed run costs as well."""
    sample = sample_of({"a": [(1.0, True), (1.0, False)], "b": [(3.0, True)] * 4})
    found = outcome_cost(sample, ["a", "b"])
    assert found is not None
    assert found.point == pytest.approx((1.0 + 3.0) / (0.5 + 1.0))
    read = outcome_cost(sample, ["a", "b"], failed_run_usd=2.0)
    assert read is not None
    assert read.point == pytest.approx((2.0 + 3.0) / 1.5)


def test_unknown_is_not_nothing():
    """A run without a price, no money at all, no run: None. Nothing passed: no number."""
    assert outcome_cost(sample_of({"a": [(1.0, True), (None, True)]}), ["a"]) is None
    assert outcome_cost(sample_of({"a": [(0.0, True), (0.0, True)]}), ["a"]) is None
    assert outcome_cost(sample_of({}), ["a"]) is None
    none = outcome_cost(sample_of({"a": [(1.0, False), (1.2, False)]}), ["a"])
    assert none is not None
    assert math.isinf(none.point)
    assert "nothing passed" in none.sentence
    assert none.to_json()["point"] is None
    one = outcome_cost(sample_of({"a": [(1.0, True)]}), ["a"])
    assert one is not None
    assert (one.point, one.low, one.high) == (1.0, None, None)


def test_the_interval_holds_the_truth_nine_times_in_ten():
    """Five tasks, ten runs each; what fails costs more, so both means go together."""
    rng = random.Random(11)
    rates = [0.3, 0.5, 0.7, 0.9, 0.6]
    true = math.fsum(p + (1 - p) * 2 for p in rates) / math.fsum(rates)
    held = 0
    for _ in range(600):
        runs = {}
        for name, rate in zip("abcde", rates, strict=True):
            passes = [rng.random() < rate for _ in range(10)]
            runs[name] = [(rng.expovariate(1) * (1 if p else 2), p) for p in passes]
        found = outcome_cost(sample_of(runs), list("abcde"))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.point <= found.high
        held += found.low <= true <= found.high
    assert 0.86 <= held / 600 <= 0.96


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1, 0.5, 1.0])
def test_the_ends_lie_around_the_point(rate):
    """Also where hardly anything passes, and the upper end is infinite."""
    rng = random.Random(2)
    for _ in range(200):
        runs = {
            name: [(rng.expovariate(1), rng.random() < rate) for _ in range(3)] for name in "abc"
        }
        found = outcome_cost(sample_of(runs), list("abc"))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.point <= found.high

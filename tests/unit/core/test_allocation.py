"""A sum of money dealt out over tasks: what it pays for, and what is kept to confirm by."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.allocation import allocate, least_usd, reached
from evalgate.core.confirmation import confirming_cost, plan_of
from evalgate.core.counts import TaskCounts
from evalgate.core.rounds import look, looks

COSTS = st.dictionaries(st.text(min_size=1, max_size=2), st.floats(0.01, 5), min_size=1, max_size=4)


def variance(runs: dict[str, int]) -> float:
    return math.fsum(1 / n for n in runs.values())


@given(COSTS, st.floats(0, 200), st.integers(1, 6))
def test_rounds_and_confirmation_are_within_the_money(costs, usd, most) -> None:
    """Each task gets one run at least; with none to get, no gate could be paid."""
    dealt = allocate(usd, costs, most=most)
    if dealt is None:
        assert usd <= least_usd(costs) * (1 + 1e-9)
        return
    assert dealt.keys() == costs.keys()
    assert all(1 <= n <= most for n in dealt.values())
    spent = math.fsum(costs[name] * n for name, n in dealt.items())
    assert spent + confirming_cost(costs, planned=max(dealt.values())) <= usd + 1e-9


def test_it_is_about_the_best_there_is() -> None:
    """Beside every other way to spend the same on four tasks of which one is dear."""
    costs = {"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.9}
    usd = confirming_cost(costs, planned=4) + 2.2
    dealt = allocate(usd, costs, most=4)
    assert dealt == {"a": 4, "b": 4, "c": 4, "d": 1}
    others = itertools.product(range(1, 5), repeat=4)
    payable = [
        dict(zip(costs, one, strict=True))
        for one in others
        if math.fsum(n * cost for n, cost in zip(one, costs.values(), strict=True)) <= 2.2
    ]
    assert variance(dealt) == pytest.approx(min(map(variance, payable)))


def test_enough_money_changes_nothing() -> None:
    """Every task gets all that is planned."""
    assert allocate(1e6, {"a": 1.0, "b": 3.0}, most=5) == {"a": 5, "b": 5}
    assert allocate(0.0, {"a": 0.0, "b": 0.0}, most=5) == {"a": 5, "b": 5}


@pytest.mark.parametrize("planned", [1, 2, 3, 4, 5, 8])
def test_a_confirmation_never_costs_more_than_was_kept(planned) -> None:
    """Whatever a look suspects: the suite, or single tasks."""
    costs = {f"T-{n}": 1.0 for n in range(8)}
    for broken in range(9):
        counts = [
            TaskCounts(
                task=name,
                base_passed=20,
                base_runs=20,
                head_passed=0 if n < broken else planned,
                head_runs=planned,
            )
            for n, name in enumerate(costs)
        ]
        found = look(counts, runs=planned, planned=planned, margin=0.1)
        if found.suite or found.tasks:
            plan = plan_of(found, list(costs), planned=planned)
            assert 2 * plan.runs * len(plan.tasks) <= confirming_cost(costs, planned=planned)


def test_rounds_reach_their_share_of_each_task() -> None:
    """The dearer task is behind, but has one run from the first look on."""
    dealt = {"cheap": 5, "dear": 2}
    assert [reached(dealt, runs) for runs in looks(5)] == [
        {"cheap": 2, "dear": 1},
        {"cheap": 3, "dear": 2},
        {"cheap": 4, "dear": 2},
        {"cheap": 5, "dear": 2},
    ]

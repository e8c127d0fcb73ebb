"""What a trial costs: one place for estimates, rations and renewals."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalgate.commands.making.cost import recounted, trial_costs
from evalgate.core.identity import Conditions
from evalgate.core.pricing import Price
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome, Signals

DEAR, CHEAP = Price(input=2000.0, output=2000.0), Price(input=1000.0, output=1000.0)


def sample(**tasks):
    """Return trials of tasks: each one's tokens and cost, or None where it errored."""

    def row(n, one):
        if one is None:
            return Row(n=n, outcome=Outcome.ERRORED)
        tokens, usd = one
        signals = Signals(input_tokens=tokens, output_tokens=0, cost_usd=usd)
        return Row(n=n, outcome=Outcome.PASSED, signals=signals)

    return Sample(
        fingerprint="f",
        conditions=Conditions(sandbox="process", agent=""),
        evidence=Evidence.MEASURED,
        tasks={
            name: TaskSample(
                task=name, digest="d", rows=tuple(row(n, one) for n, one in enumerate(rows, 1))
            )
            for name, rows in tasks.items()
        },
    )


def harness(*prices):
    """Return a harness with a model of each price."""
    models = {str(n): SimpleNamespace(price=price) for n, price in enumerate(prices)}
    return SimpleNamespace(config=SimpleNamespace(models=models))


A, B = [(100, 0.5), (300, 0.7)], [(1000, 3.0)]


@pytest.mark.parametrize(
    ("prices", "tasks", "asked", "costs"),
    [
        ([CHEAP], {"a": A, "b": B}, "ab", {"a": 0.2, "b": 1.0}),  # by the price of today
        ([CHEAP, DEAR], {"a": A, "b": B}, "ab", {"a": 0.6, "b": 3.0}),  # as they were paid
        ([None], {"a": A, "b": B}, "b", {"b": 3.0}),  # only of those that are asked for
        ([CHEAP], {"a": A, "b": B}, "ac", {"a": 0.2, "c": 0.6}),  # the mean where nobody knows
        ([CHEAP], {"a": A, "b": [None]}, "ab", {"a": 0.2, "b": 0.2}),  # errored throughout
        ([None], {"a": A, "b": [(1000, None)]}, "a", None),  # unknown of a trial
        ([CHEAP], {"a": [None]}, "a", None),
    ],
)
def test_a_trial_of_each_task_costs_its_mean(prices, tasks, asked, costs):
    """By its tokens where one price holds for all of them."""
    found = trial_costs(sample(**tasks), harness(*prices), asked)
    assert found == (None if costs is None else pytest.approx(costs))


def test_a_sample_is_recounted_by_one_known_price():
    """Tokens of several models are not told apart, so no other table can count them."""
    stored = sample(a=A)
    again = recounted(stored, harness(DEAR).config)
    assert [row.signals.cost_usd for row in again.rows] == pytest.approx([0.2, 0.6])
    assert recounted(stored, harness(DEAR, CHEAP).config) is None
    assert recounted(stored, harness(None).config) is None

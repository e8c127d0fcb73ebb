"""What a line says before money is spent: agents and their judges, or that nobody knows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalgate.commands.making.estimate import estimate
from evalgate.core.pricing import FREE, Price
from evalgate.core.task import CheckSpec

PAID = {"input": 5.0, "output": 100.0}


def judge(**table):
    """Return a check that asks a judge three times, at two cents each where it is ``PAID``."""
    model = {"id": "j", "upstream": "anthropic", **table}
    params = {"rubric": "It says why.", "samples": 3, "judge": model}
    return CheckSpec(type="llm_judge", params=params, advisory=False)


def line(price, checks, trials):
    """Return the line about some trials, each list of checks one of a task."""
    models = {"main": SimpleNamespace(price=price)}
    tasks = [SimpleNamespace(id=str(n), checks=one) for n, one in enumerate(checks)]
    harness = SimpleNamespace(config=SimpleNamespace(models=models, unpriced=()), judges=models)
    return estimate(SimpleNamespace(baselines=list), harness, tasks, trials)


@pytest.mark.parametrize(
    ("price", "checks", "said"),
    [
        (FREE, [], "cost $0 (the model runs here)"),
        (FREE, [judge(price={"input": 0, "output": 0})], "$0 (the model runs here), with 15 qu"),
        (FREE, [judge(price=PAID)], "about $0.30, with 15 questions to judges"),
        (FREE, [judge()], "cost unknown, with 15 questions to judges"),
        (FREE, [judge(price=PAID), judge()], "cost unknown, with 30 questions to judges"),
        (Price(input=1.0, output=1.0), [judge(price=PAID)], "cost unknown, with 15 questions"),
    ],
)
def test_judges_are_in_it(price, checks, said):
    """Ten trials of two tasks, one of which has judges that were not calibrated yet."""
    found = line(price, [checks, []], 10)
    assert found.startswith("estimate: 10 trials of 2 tasks, calls unknown, ")
    assert said in found


def test_a_suite_without_a_task_costs_nothing():
    """A project that has just begun."""
    assert line(None, [], 0) == "estimate: 0 trials of 0 tasks, calls unknown, cost unknown"
    assert line(FREE, [], 0).endswith(", cost $0 (the model runs here)")

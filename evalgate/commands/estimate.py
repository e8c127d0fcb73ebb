"""What trials would come to, said before any of them is made."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalgate.commands.cost import trial_costs
from evalgate.commands.project import State
from evalgate.core.baseline import pool
from evalgate.core.harness import Harness
from evalgate.core.soft import median
from evalgate.core.task import Task


def estimate(state: State, harness: Harness, tasks: Sequence[Task], trials: int) -> str:
    """Return one line: how many trials, about how many calls, about how much money.

    Calls and money come from the newest committed baseline; without one they are unknown.
    """
    newest = sorted(state.baselines(), key=lambda one: one.provenance.date)[-1:]
    sample = pool(newest)
    ids = {task.id for task in tasks}
    rows = [row.signals for row in sample.rows] if sample else []
    turns = [row.turns for row in rows if row.turns is not None]
    prices = {model.price for model in harness.config.models.values()}
    costs = trial_costs(sample, harness, ids) if sample else None
    calls = f"about {round(median(turns) * trials)} model calls" if turns else "calls unknown"
    money = "cost unknown"
    if all(price is not None and not (price.input or price.output) for price in prices):
        money = "cost $0 (the model runs here)"
    elif costs:
        money = f"about ${math.fsum(costs.values()) / len(costs) * trials:.2f}"
    return f"estimate: {trials} trials of {len(ids)} tasks, {calls}, {money}"

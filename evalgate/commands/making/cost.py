"""What trials cost by a table of prices: one of each task, and those of a sample anew."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from evalgate.core.config import Config
from evalgate.core.harness import Harness
from evalgate.core.pricing import Price, cost_usd
from evalgate.core.sample import Sample, TaskSample


def trial_costs(sample: Sample, harness: Harness, tasks: Iterable[str]) -> dict[str, float] | None:
    """Return the mean cost of a trial of each of these tasks, in US dollars.

    By the harness's price of today where its models have but one, else by what the trials cost
    when they were made; a task that the sample measured no trial of costs the mean of the others.
    None when that is unknown of any trial.
    """
    price = only_price(harness.config)
    costs: dict[str, float] = {}
    for name, task in sample.tasks.items():
        rows = [
            row.signals.cost_usd if price is None else cost_usd(row.signals.usage, price)
            for row in task.measured
        ]
        known = [cost for cost in rows if cost is not None]
        if len(known) < len(rows):
            return None
        if known:
            costs[name] = math.fsum(known) / len(known)
    if not costs:
        return None
    mean = math.fsum(costs.values()) / len(costs)
    return {name: costs.get(name, mean) for name in tasks}


def only_price(config: Config) -> Price | None:
    """Return the price of all models of a configuration; None where it is unknown or differs."""
    prices = {model.price for model in config.models.values()}
    return prices.pop() if len(prices) == 1 else None


def recounted(sample: Sample, config: Config) -> Sample | None:
    """Return a sample at what its trials cost by a configuration's price, from their tokens.

    None where its models have not one known price: the tokens of a trial are those of all models.
    """
    price = only_price(config)
    return None if price is None else _priced(sample, price)


def unpriced(sample: Sample) -> Sample:
    """Return a sample of which nobody knows what its trials cost."""
    return _priced(sample, None)


def _priced(sample: Sample, price: Price | None) -> Sample:
    def of(task: TaskSample) -> TaskSample:
        rows = (
            replace(row, signals=replace(row.signals, cost_usd=cost_usd(row.signals.usage, price)))
            for row in task.rows
        )
        return replace(task, rows=tuple(rows))

    return replace(sample, tasks={name: of(task) for name, task in sample.tasks.items()})

"""What one trial of each task costs, by what the trials of a baseline used."""

from __future__ import annotations

import math

from evalgate.core.harness import Harness
from evalgate.core.pricing import cost_usd
from evalgate.core.sample import Sample
from evalgate.core.trajectory import Usage
from evalgate.core.trial import Signals


def trial_costs(sample: Sample, harness: Harness) -> dict[str, float] | None:
    """Return the mean cost of a trial of each task, in US dollars.

    By the harness's price of today where its models have but one, else by what the trials cost
    when they were made. None when that is unknown of any of them.
    """
    prices = {model.price for model in harness.config.models.values()}
    price = prices.pop() if len(prices) == 1 else None
    costs: dict[str, float] = {}
    for name, task in sample.tasks.items():
        rows = [
            row.signals.cost_usd if price is None else cost_usd(usage_of(row.signals), price)
            for row in task.measured
        ]
        known = [cost for cost in rows if cost is not None]
        if not known or len(known) < len(rows):
            return None
        costs[name] = math.fsum(known) / len(known)
    return costs or None


def usage_of(signals: Signals) -> Usage:
    """Return the tokens of a trial."""
    return Usage(
        input_tokens=signals.input_tokens,
        output_tokens=signals.output_tokens,
        cache_read_tokens=signals.cache_read_tokens,
        cache_write_tokens=signals.cache_write_tokens,
    )

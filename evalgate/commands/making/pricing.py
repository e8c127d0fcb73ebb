"""By whose prices a head is judged: the base's, so that no change makes itself cheap."""

from __future__ import annotations

from dataclasses import asdict, replace

from evalgate.core.config import Config
from evalgate.core.harness import Harness
from evalgate.core.identity import digest
from evalgate.core.pricing import Price, cost_usd
from evalgate.core.trial import Trial
from evalgate.gateway.limits.charge import cost_of
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.recorded import load_recorded
from evalgate.store.runs import RunFolder


def prices_of(config: Config) -> dict[str, Price]:
    """Return the known prices of a configuration, by the id of the model."""
    return {one.id: one.price for one in config.models.values() if one.price is not None}


def priced_by(base: Config, harness: Harness) -> Harness:
    """Return the harness with the base's price for every model that the base has a price for.

    It keeps its fingerprint: what it asks for is the same.
    """
    known = prices_of(base)
    models = {
        name: replace(one, price=known.get(one.id, one.price))
        for name, one in harness.config.models.items()
    }
    return replace(harness, config=replace(harness.config, models=models))


def prices_digest(harness: Harness) -> str:
    """Return twelve hex that name the prices of a harness's models."""
    prices = harness.config.prices
    told = {name: None if price is None else asdict(price) for name, price in prices.items()}
    return digest(told, domain="evalgate prices")[:12]


def judging_prices(judging: Harness, own: Harness) -> str:
    """Name the prices that a harness is judged by where they are not its own; else empty."""
    named = prices_digest(judging)
    return "" if named == prices_digest(own) else named


def repriced(trial: Trial, run: RunFolder, harness: Harness) -> Trial:
    """Return a trial at what it costs by the harness's prices.

    Its recording tells; without one in the run's folder its cost is known where there is but one
    price. UsageError when the recording is damaged.
    """
    path = cassette_path(run, trial.task, trial.key.n)
    prices = harness.config.prices
    if path.exists():
        recorded = load_recorded(path.read_bytes(), name=str(path))
        cost = cost_of(recorded.tape.exchanges, prices)
    else:
        every = set(prices.values())
        cost = cost_usd(trial.signals.usage, every.pop() if len(every) == 1 else None)
    return replace(trial, signals=replace(trial.signals, cost_usd=cost))


def price_edits(base: Config, head: Config) -> tuple[str, ...]:
    """Name the prices that a change edits, takes away, or brings with a model of its own."""
    before, after = prices_of(base), prices_of(head)
    found = []
    for name in sorted({one.id for one in head.models.values()}):
        old, new = before.get(name), after.get(name)
        if old is not None and new != old:
            edit = f"this change edits the price of {name}: {_said(old)} → {_said(new)}"
            found.append(f"{edit}; the base's price is what counts here")
        elif old is None and new is not None and before:
            found.append(
                f"the price of {name} is this change's own ({_said(new)}): the base has none"
            )
    return tuple(found)


def _said(price: Price | None) -> str:
    if price is None:
        return "none"
    kinds = {name.replace("_", " "): value for name, value in asdict(price).items()}
    told = ", ".join(f"{name} ${value:g}" for name, value in kinds.items() if value is not None)
    return f"{told} a million tokens"

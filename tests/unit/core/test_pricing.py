"""What tokens cost: counted once, and unknown where anything is unknown."""

from __future__ import annotations

import pytest

from evalgate.core.pricing import FREE, Price, cost_usd
from evalgate.core.trajectory import NO_USAGE, Usage

PRICE = Price(input=3, output=15, cache_read=0.3, cache_write=3.75)


def test_every_kind_of_token_has_its_price() -> None:
    """A million of each costs the sum of the four prices."""
    million = 1_000_000
    usage = Usage(
        input_tokens=million,
        output_tokens=million,
        cache_read_tokens=million,
        cache_write_tokens=million,
    )
    assert cost_usd(usage, PRICE) == pytest.approx(3 + 15 + 0.3 + 3.75)


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=1), Usage(output_tokens=1)])
def test_an_unknown_count_is_an_unknown_cost(usage: Usage) -> None:
    """Half a count is no cost, and never zero."""
    assert cost_usd(usage, PRICE) is None


def test_an_unknown_price_is_an_unknown_cost() -> None:
    """Even for nothing at all."""
    assert cost_usd(NO_USAGE, None) is None


def test_what_is_free_costs_nothing_whatever_was_counted() -> None:
    """A model on this machine needs no counter."""
    assert cost_usd(Usage(), FREE) == 0.0
    assert cost_usd(NO_USAGE, PRICE) == 0.0


def test_caches_a_provider_does_not_report_are_none() -> None:
    """Input and output are enough."""
    assert cost_usd(Usage(input_tokens=1_000_000, output_tokens=0), PRICE) == 3


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=1, output_tokens=1, cache_read_tokens=1),
        Usage(input_tokens=1, output_tokens=1, cache_read_tokens=0, cache_write_tokens=1),
    ],
)
def test_cached_tokens_without_a_price_are_not_free(usage: Usage) -> None:
    """A table that does not name their price makes the cost unknown, once there are any."""
    price = Price(input=3, output=15)
    assert cost_usd(usage, price) is None
    none = Usage(input_tokens=1_000_000, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0)
    assert cost_usd(none, price) == 3
    assert cost_usd(usage, Price(input=0, output=0, cache_read=0, cache_write=0)) == 0
    assert cost_usd(usage, FREE) == 0

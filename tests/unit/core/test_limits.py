"""What may be used, what was used, and when that is enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.limits import Allowance, Tally, stop_at, tokens_of
from evalgate.core.trajectory import Usage

TALLIES = st.builds(
    Tally,
    turns=st.integers(0, 99),
    tool_calls=st.integers(0, 99),
    tokens=st.none() | st.integers(0, 10**9),
    usd=st.none() | st.floats(0, 1000),
)


@given(TALLIES)
def test_a_tally_survives_json(tally: Tally) -> None:
    """What is written beside a run is read again."""
    assert Tally.from_json(tally.to_json()) == tally


@given(TALLIES, TALLIES)
def test_what_is_unknown_stays_unknown(one: Tally, other: Tally) -> None:
    """No sum makes a number of it; leaving it out is asked for by name."""
    both = one + other
    assert (both.tokens is None) == (None in (one.tokens, other.tokens))
    assert (both.usd is None) == (None in (one.usd, other.usd))
    assert both.turns == one.turns + other.turns
    assert both.known.tokens == (both.tokens or 0)


@given(TALLIES)
def test_without_a_limit_nothing_stops(tally: Tally) -> None:
    """Not even what nobody knows."""
    assert Allowance().unlimited
    assert stop_at(tally, Allowance(), under_way=Tally(turns=99)) is None


@pytest.mark.parametrize(
    ("used", "allowed", "message"),
    [
        (Tally(turns=1), Allowance(turns=2), None),
        (Tally(turns=2), Allowance(turns=2), "the limit of 2 model turns is reached"),
        (Tally(tool_calls=3), Allowance(tool_calls=3), None),
        (Tally(tool_calls=1), Allowance(tool_calls=0), "tool calls is passed: 1 were asked for"),
        (Tally(tokens=499), Allowance(tokens=500), None),
        (Tally(tokens=700), Allowance(tokens=500), "500 tokens is reached: 700 were used"),
        (Tally(usd=0.4999), Allowance(usd=0.5), None),
        (Tally(usd=0.512345), Allowance(usd=0.5), "$0.5 is reached: $0.5123 were spent"),
        (Tally(tokens=None), Allowance(tokens=500), "500 tokens can not be held"),
        (Tally(usd=None), Allowance(usd=0.5), "$0.5 can not be held"),
        (Tally(usd=None), Allowance(tokens=500), None),
    ],
)
def test_when_it_is_enough(used: Tally, allowed: Allowance, message: str | None) -> None:
    """At the limit for what is spent, beyond it for what was only asked for."""
    stop = stop_at(used, allowed)
    assert (stop is None) == (message is None)
    if stop is not None:
        assert message is not None
        assert message in stop.message
        assert stop.unknown == ("can not be held" in message)


@pytest.mark.parametrize(
    ("name", "most", "found"),
    [
        ("turns", 3, "the limit of 3 model turns is reached"),
        ("tool_calls", 2, "is passed: 1 were asked for, 2 more may be under way"),
        ("tokens", 3, "is reached: 1 were used, 2 more may be under way"),
        ("usd", 3.0, "is reached: $1 were spent, $2 more may be under way"),
    ],
)
def test_what_is_under_way_counts(name: str, most: float, found: str) -> None:
    """Two at once do not pass a limit together with the one before."""
    allowed = Allowance(**{name: most})
    used, under_way = Tally(**{name: 1}), Tally(**{name: 2})
    assert stop_at(used, allowed) is None
    stop = stop_at(used, allowed, under_way=under_way)
    assert stop is not None
    assert found in stop.message
    assert stop_at(used, allowed, under_way=used) is None


def test_cached_tokens_count_once() -> None:
    """Input is without them; what a provider does not report of them is none."""
    cached = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=4, cache_write_tokens=8)
    assert tokens_of(cached) == 15
    assert tokens_of(Usage(input_tokens=1, output_tokens=2)) == 3
    assert tokens_of(Usage(input_tokens=1)) is None
    assert tokens_of(Usage(output_tokens=1)) is None

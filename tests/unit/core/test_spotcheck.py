"""Which recorded trials are made anew, and when recorded rates are not believed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.counts import TaskCounts
from evalgate.core.spotcheck import drawn, flatters


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 30), max_size=40), st.text())
def test_a_draw_is_even_and_large_enough(recorded: dict[str, int], seed: str) -> None:
    """Six trials or a tenth, over as many tasks as there are, the same for the same seed."""
    found = drawn(recorded, seed=seed)
    assert found == drawn(recorded, seed=seed)
    known = {name for name, runs in recorded.items() if runs}
    assert set(found) <= known
    if known:
        wanted = max(6, -(-sum(recorded.values()) // 10))
        assert sum(found.values()) == wanted
        assert max(found.values()) - min(found.values()) <= 1
        assert len(found) == min(len(known), wanted)


def test_another_commit_draws_others() -> None:
    """Nobody knows beforehand which of many tasks are checked."""
    recorded = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 5)
    draws = {tuple(sorted(drawn(recorded, seed=str(n)))) for n in range(20)}
    assert len(draws) > 10


def counts(recorded: int, fresh: int) -> list[TaskCounts]:
    """Return six tasks, recorded five times and made anew once, with so many passes in all."""
    return [
        TaskCounts(
            task=str(n),
            base_passed=recorded,
            base_runs=5,
            head_passed=int(n < fresh),
            head_runs=1,
        )
        for n in range(6)
    ]


def test_recordings_that_flatter_are_found() -> None:
    """Perfect ones of a harness that fails; chance alone is believed."""
    assert flatters(counts(5, 1)) is not None
    assert flatters(counts(4, 4)) is None
    assert flatters(counts(5, 6)) is None
    assert flatters(counts(1, 6)) is None

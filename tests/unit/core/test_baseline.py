"""Baselines: the committed numbers, named by their content and pooled with their like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.core.baseline import Baseline, Provenance, pool
from evalgate.core.identity import Conditions
from evalgate.core.sample import Row, Sample
from evalgate.core.trial import Outcome, Signals


def baseline(sample: Sample, date: str = "2026-01-01", recordings: int = 1) -> Baseline:
    """Return a baseline of a sample."""
    made = Provenance(evalgate="0.1.0", commit="c" * 40, date=date, recordings=recordings)
    return Baseline(sample=sample, parts={"prompt": "p" * 64}, suite="s" * 64, provenance=made)


def recorded(sample: Sample, *cassettes: str) -> Sample:
    """Give each row of the one task its cassette."""
    (task,) = sample.tasks.values()
    rows = tuple(replace(row, cassette=c) for row, c in zip(task.rows, cassettes, strict=True))
    return replace(sample, tasks={task.task: replace(task, rows=rows)})


ROWS = st.builds(
    Row,
    n=st.integers(1, 9),
    outcome=st.sampled_from(Outcome),
    reason=st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    checks=st.dictionaries(st.text(max_size=4), st.sampled_from(Outcome), max_size=2),
    signals=st.builds(
        Signals,
        seconds=st.none() | st.floats(0, allow_nan=False, allow_infinity=False),
        turns=st.none() | st.integers(0, 99),
        cost_usd=st.none() | st.just(0.0),
    ),
    cassette=st.sampled_from(["", "c1"]),
)


@settings(deadline=None)
@given(st.lists(ROWS, max_size=3), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_a_baseline_comes_back(sample: Callable[..., Sample], rows: list[Row], patch: str) -> None:
    """Every raw number survives; what was unknown is absent and unknown again."""
    made = sample(t="p")
    task = replace(made.tasks["t"], rows=tuple(rows), passing_patch=patch)
    one = baseline(replace(made, tasks={"t": task}))
    assert Baseline.from_json(one.to_json()) == one


def test_an_unknown_number_is_left_out(sample: Callable[..., Sample]) -> None:
    """TOML has no null, and zero would be a lie."""
    value = baseline(sample(t="p")).to_json()
    assert value["tasks"]["t"]["trials"][0]["signals"] == {}


def test_the_name_is_the_content(sample: Callable[..., Sample]) -> None:
    """Who wrote it when is not part of the name; every number is."""
    one = baseline(sample(t="pf"))
    assert one.filename == f"{'f' * 16}-{one.digest[:8]}.toml"
    assert baseline(sample(t="pf"), date="2027-01-01").digest == one.digest
    assert baseline(sample(t="pp")).digest != one.digest


def test_a_path_that_is_no_utf8_can_be_written_down(sample: Callable[..., Sample]) -> None:
    """The reason of a row may name any file an agent touched."""
    made = sample(t="f")
    row = replace(made.tasks["t"].rows[0], reason="touched \udcff")
    one = baseline(replace(made, tasks={"t": replace(made.tasks["t"], rows=(row,))}))
    again = Baseline.from_json(one.to_json())
    assert again.sample.tasks["t"].rows[0].reason == "touched \\udcff"
    assert again.filename == one.filename


def test_nothing_pools_to_nothing() -> None:
    """Without a baseline there is no sample."""
    assert pool([]) is None


def test_equal_conditions_are_pooled(sample: Callable[..., Sample]) -> None:
    """More trials under the same conditions make one larger sample."""
    old = baseline(recorded(sample(t="pp"), "c1", "c2"), "2026-01-01", recordings=1)
    new = baseline(recorded(sample(t="ff"), "c3", "c4"), "2026-01-02", recordings=2)
    for order in ([old, new], [new, old]):
        pooled = pool(order)
        assert pooled is not None
        assert [row.cassette for row in pooled.tasks["t"].rows] == ["c3", "c4", "c1", "c2"]
        assert pooled.recordings == 2


def test_one_cassette_counts_once(sample: Callable[..., Sample]) -> None:
    """Five replays of one recording are no five samples."""
    old = baseline(recorded(sample(t="pp"), "c1", "c2"), "2026-01-01")
    new = baseline(recorded(sample(t="pf"), "c1", "c3"), "2026-01-02")
    pooled = pool([old, new])
    assert pooled is not None
    assert [row.cassette for row in pooled.tasks["t"].rows] == ["c1", "c3", "c2"]


def test_other_conditions_stay_out(sample: Callable[..., Sample], conditions: Conditions) -> None:
    """The newest baseline says under which conditions is compared."""
    other = replace(conditions, models=("m-2",))
    old, new = baseline(sample(t="pp")), baseline(sample(other, t="f"), "2026-01-02")
    assert pool([old, new]) == new.sample


def test_another_form_of_a_task_stays_out(sample: Callable[..., Sample]) -> None:
    """A task that changed between two baselines counts in its newest form."""
    old = baseline(sample(t="pp", u="p", digests={"t": "d0"}))
    new = baseline(sample(t="f"), "2026-01-02")
    pooled = pool([old, new])
    assert pooled is not None
    assert pooled.tasks["t"] == new.sample.tasks["t"]
    assert pooled.tasks["u"] == old.sample.tasks["u"]


@pytest.mark.parametrize("gone", ["format", "tasks", "conditions", "provenance", "evidence"])
def test_half_a_baseline_is_none(sample: Callable[..., Sample], gone: str) -> None:
    """A missing table raises; only the format is judged elsewhere."""
    value = {key: item for key, item in baseline(sample(t="p")).to_json().items() if key != gone}
    if gone == "format":
        assert Baseline.from_json(value) == baseline(sample(t="p"))
    else:
        with pytest.raises(KeyError):
            Baseline.from_json(value)


def test_a_live_trial_enters_a_pool_once(sample: Callable[..., Sample]) -> None:
    """A baseline of two runs holds the numbers of the first again; unknown times are no copies."""
    made = sample(t="pf")

    def timed(*seconds: float | None) -> Sample:
        (task,) = made.tasks.values()
        rows = tuple(
            replace(task.rows[0], n=n, signals=Signals(seconds=one))
            for n, one in enumerate(seconds, 1)
        )
        return replace(made, tasks={"t": replace(task, rows=rows)})

    first, both = baseline(timed(1.5, 2.5)), baseline(timed(1.5, 2.5, 1.5), date="2026-02-02")
    for order in ((first, both), (both, first)):
        found = pool(order)
        assert found is not None
        assert [row.signals.seconds for row in found.rows] == [1.5, 2.5, 1.5]
    unknown = pool([baseline(timed(None)), baseline(timed(None, None), date="2026-02-02")])
    assert unknown is not None
    assert len(unknown.rows) == 3

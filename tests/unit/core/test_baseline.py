"""Baselines: the committed numbers, named by their content and pooled with their like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.baseline import Baseline, Provenance, current, pool, renewed, superseded
from evalgate.core.identity import Conditions
from evalgate.core.sample import Row, Sample
from evalgate.core.trial import Outcome, Signals


def baseline(sample: Sample, date: str = "2026-01-01", recordings: int = 1) -> Baseline:
    """Return a baseline of a sample."""
    made = provenance(date, recordings)
    return Baseline(sample=sample, parts={"prompt": "p" * 64}, suite="s" * 64, provenance=made)


def provenance(date: str, recordings: int = 1) -> Provenance:
    """Say when it was made."""
    return Provenance(evalgate="0.1.0", commit="c" * 40, date=date, recordings=recordings)


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


def test_what_took_the_place_of_others_is_not_pooled_with_them(
    sample: Callable[..., Sample],
) -> None:
    """Whatever their conditions and days; a later file beside it is pooled as ever."""
    old = baseline(recorded(sample(t="pp"), "c1", "c2"), "2026-03-01")
    new = replace(
        baseline(recorded(sample(t="ff"), "c3", "c4"), "2026-02-01"), supersedes=(old.digest,)
    )
    beside = baseline(recorded(sample(t="p"), "c5"), "2026-02-02")
    for order in ([old, new, beside], [beside, new, old]):
        assert superseded(order) == {old.digest: new}
        pooled = pool(order)
        assert pooled is not None
        assert sorted(row.cassette for row in pooled.rows) == ["c3", "c4", "c5"]
    assert renewed([old, new, beside]) == new
    assert renewed([old, beside]) is None
    assert current([old, beside]) == (old, beside)


def test_what_was_accepted_elsewhere_before_a_renewal_is_not_pooled_with_it(
    sample: Callable[..., Sample],
) -> None:
    """A branch that did not know of the renewal is merged after it: its numbers are the older."""
    named = baseline(recorded(sample(t="pp"), "c1", "c2"), "2026-01-01")
    meanwhile = baseline(recorded(sample(t="pp"), "c3", "c4"), "2026-02-01T09:59:59+00:00")
    new = replace(
        baseline(recorded(sample(t="ff"), "c5", "c6"), "2026-02-01T12:00:00+02:00"),
        supersedes=(named.digest,),
    )
    as_new = baseline(recorded(sample(t="f"), "c7"), "2026-02-01T10:00:00+00:00")
    stranger = replace(meanwhile, sample=replace(meanwhile.sample, fingerprint="e" * 64))
    every = [named, meanwhile, new, as_new]
    for order in permutations(every):
        assert superseded(order) == {named.digest: new, meanwhile.digest: new}
        pooled = pool(order)
        assert pooled is not None
        assert sorted(row.cassette for row in pooled.rows) == ["c5", "c6", "c7"]
        assert renewed(order) == new
    # So it stays when the named one is pruned, and with a second renewal of another branch.
    assert current([meanwhile, new]) == (new,)
    later = replace(as_new, supersedes=(named.digest,), provenance=provenance("2026-02-03"))
    assert {one: new.filename for one, new in superseded([*every, later]).items()} == dict.fromkeys(
        (one.digest for one in every), later.filename
    )
    assert current([new, stranger]) == (new, stranger)


def test_the_newest_is_so_by_its_time_and_not_by_its_letters(
    sample: Callable[..., Sample],
) -> None:
    """Two places on earth write one moment differently; the newest decides the task's digest."""
    first = baseline(sample(t="p"), "2026-02-01T11:00:00+02:00")
    second = baseline(
        replace(sample(t="f"), tasks={"t": replace(sample(t="f").tasks["t"], digest="9" * 64)}),
        "2026-02-01T10:00:00+00:00",
    )
    for order in ([first, second], [second, first]):
        pooled = pool(order)
        assert pooled is not None
        assert pooled.tasks["t"].digest == "9" * 64


def test_what_it_takes_the_place_of_is_in_its_name(sample: Callable[..., Sample]) -> None:
    """So nobody adds it by hand; and one that takes no place is named as ever."""
    one = baseline(sample(t="p"))
    new = replace(one, supersedes=("a" * 64,))
    assert "supersedes" not in one.to_json()
    assert new.filename != one.filename
    assert Baseline.from_json(new.to_json()) == new


def test_nobody_takes_the_place_of_another_harness(sample: Callable[..., Sample]) -> None:
    """A harness has its own numbers; nor does a file that is gone hide anything."""
    old = baseline(sample(t="p"))
    other = replace(sample(t="f"), fingerprint="e" * 64)
    new = replace(baseline(other), supersedes=(old.digest, "0" * 64))
    assert superseded([old, new]) == {}
    assert current([old, new]) == (old, new)

"""Quarantine: read from the policy, said with its day, and without a say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from evalgate.core.change import Change
from evalgate.core.decision import Decision
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.quarantine import Quarantine, added, read_quarantine
from evalgate.core.sample import Sample
from evalgate.core.schema import Reader, Source
from evalgate.errors import UsageError

FLAKY = Quarantine(task="flaky", owner="ann", reason="races", review=date(2027, 1, 31))


def _read(text: str) -> tuple[Quarantine, ...]:
    source = Source("evalgate.toml", text)
    return read_quarantine(Reader(source.parse(), source, ()))


@pytest.mark.parametrize("day", ["2027-01-31", '"2027-01-31"'])
def test_it_is_read(day: str) -> None:
    """A table for each task; the day with quotes or without."""
    assert _read(f'[flaky]\nowner = "ann"\nreason = "races"\nreview = {day}\n') == (FLAKY,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('reason = "x"\nreview = 2027-01-31', "'owner' is missing"),
        ('owner = " "\nreason = "x"\nreview = 2027-01-31', "is empty"),
        ('owner = "a"\nreason = "x"\nreview = 2027-01-31T10:00:00', "must be a day"),
        ('owner = "a"\nreason = "x"\nreview = "soon"', "must be a day"),
        ('owner = "a"\nreason = "x"\nreview = 2027-01-31\nuntil = 1', "unknown key"),
    ],
)
def test_what_is_missing_is_named(text: str, said: str) -> None:
    """No owner, no reason, no day: no quarantine."""
    with pytest.raises(UsageError, match=said):
        _read(f"[flaky]\n{text}\n")


def test_its_sentence() -> None:
    """The last day is not overdue; a task that is gone is said."""
    said = FLAKY.sentence(today=date(2027, 1, 31), tasks={"flaky"})
    assert said == (
        "in quarantine, decides nothing: flaky (races; owner ann, review by 2027-01-31)"
    )
    assert FLAKY.sentence(today=date(2027, 2, 2), tasks={"flaky"}).endswith("OVERDUE by 2 days")
    assert FLAKY.sentence(today=date(2027, 1, 1), tasks=()).endswith("has no such task")
    assert added((), (FLAKY,)) == ("flaky",)
    assert added((FLAKY,), (FLAKY,)) == ()


def test_it_has_no_say(sample: Callable[..., Sample]) -> None:
    """Neither in the test of the suite, nor in that of tasks, nor below a floor."""
    base = sample(flaky="p" * 20, sound="p" * 20)
    head = sample(flaky="f" * 20, sound="p" * 20)
    assert judge(base, head, Policy()).decision is Decision.REGRESSION
    policy = Policy(quarantine=(FLAKY,), must_pass=("flaky",), min_pass_rate=0.9)
    verdict = judge(base, head, policy)
    assert verdict.decision is Decision.UNDECIDED
    assert [one.task for one in verdict.of(Change.QUARANTINED)] == ["flaky"]
    assert "in quarantine: flaky" in policy.sentence

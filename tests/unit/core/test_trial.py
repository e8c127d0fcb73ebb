"""A trial: outcome, checks and numbers, on disk and back."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial
from evalgate.core.tripwires import Hit

TEXT = st.text(max_size=8)
NUMBERS = st.none() | st.integers(0, 9) | st.floats(0, 9, allow_nan=False)
CHECKS = st.builds(
    CheckResult,
    name=TEXT,
    outcome=st.sampled_from(Outcome),
    detail=TEXT,
    advisory=st.booleans(),
)
HITS = st.builds(Hit, name=TEXT, place=TEXT, excerpt=TEXT)
FIELDS = {
    "task": TEXT,
    "key": st.builds(
        TrialKey, task_digest=TEXT, fingerprint=TEXT, series=TEXT, n=st.integers(1, 99)
    ),
    "outcome": st.sampled_from(Outcome),
    "reason": TEXT,
    "checks": st.lists(CHECKS, max_size=2).map(tuple),
    "signals": st.builds(Signals, **{field.name: NUMBERS for field in fields(Signals)}),
    "conditions": st.builds(Conditions, sandbox=TEXT, agent=TEXT),
    "evidence": st.sampled_from(Evidence),
    "cassette": TEXT,
    "patch": TEXT,
    "final_answer": TEXT,
    "agent_exit": st.none() | st.integers(-9, 255),
    "unused_exchanges": st.integers(0, 9),
    "diverged": TEXT,
    "artifacts": TEXT,
    "faults": st.lists(TEXT, max_size=2).map(tuple),
    "topped_up": st.integers(0, 9),
    "tripwires": st.lists(HITS, max_size=2).map(tuple),
}
TRIALS = st.builds(Trial, **FIELDS)


@given(TRIALS)
def test_a_trial_comes_back_from_its_line(trial: Trial) -> None:
    """What is appended to a run is what is read from it."""
    assert Trial.from_json(json.loads(json.dumps(trial.to_json()))) == trial


def test_every_member_of_a_trial_goes_to_disk() -> None:
    """None is left to its default above: a member that is forgotten there is lost on disk."""
    assert set(FIELDS) == {field.name for field in fields(Trial)}


def test_unknown_is_null_and_never_zero() -> None:
    """A number nobody counted stays unknown."""
    value = Signals(turns=0).to_json()
    assert value["cost_usd"] is None
    assert value["turns"] == 0
    assert Signals.from_json({}) == Signals()
    assert Signals.from_json(value) == Signals(turns=0)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, "nan", "1", True, [1]])
def test_what_is_no_measurement_is_refused(number: object) -> None:
    """A NaN makes every comparison false; text and flags are no numbers."""
    with pytest.raises(ValueError, match="which is no measurement"):
        Signals.from_json({"cost_usd": number})


def test_an_unknown_signal_is_refused() -> None:
    """A misspelt number is not silently dropped."""
    with pytest.raises(TypeError):
        Signals.from_json({"second": 1})


@given(TRIALS)
def test_a_replay_must_reproduce_outcome_checks_and_signals(trial: Trial) -> None:
    """Where the trial ran is no part of what must come out again."""
    assert set(trial.measured()) == {"outcome", "reason", "checks", "signals"}

"""Gates dealt from real trials: no trial twice, and nothing made up."""

from __future__ import annotations

import random

import pytest

from evalgate.core.dealing import Dealt, dealt_outlook, trials_needed
from evalgate.core.policy import Policy

ALWAYS = {"a": [True] * 60, "b": [True] * 60}
NEVER = {"a": [False] * 60, "b": [False] * 60}


def test_every_trial_is_dealt_once():
    """Baseline, head and both fresh arms of an A/A gate use up one deal."""
    known = {"a": [True] * 7 + [False] * 13}
    gate = Dealt(random.Random(1), known, known, stored=5)
    (looked,) = gate.round(5)
    (fresh,) = gate.fresh(["a"], 5)
    passed = looked.base_passed + looked.head_passed + fresh.base_passed + fresh.head_passed
    assert passed == 7
    assert gate.spent == 15
    with pytest.raises(ValueError, match="1 trials are wanted, and 0 are left"):
        gate.fresh(["a"], 1)


def test_a_round_adds_to_those_before():
    """The head's counts are of all its runs so far."""
    gate = Dealt(random.Random(1), ALWAYS, NEVER, stored=5)
    assert [one.head_runs for one in gate.round(3)] == [3, 3]
    assert [(one.base_passed, one.head_passed, one.head_runs) for one in gate.round(5)] == [
        (5, 0, 5),
        (5, 0, 5),
    ]
    assert gate.spent == 10


def test_the_same_trials_give_the_same_shares():
    """What never changes is never blocked, what broke always; the seed is fixed."""
    policy = Policy()
    assert dealt_outlook(ALWAYS, ALWAYS, policy, stored=5, planned=5, gates=50).blocked == 0
    broke = dealt_outlook(ALWAYS, NEVER, policy, stored=5, planned=5, gates=50)
    assert broke.blocked == 1
    assert broke == dealt_outlook(ALWAYS, NEVER, policy, stored=5, planned=5, gates=50)


def test_what_one_gate_takes_is_enough():
    """Coins ask for most: suspicion, and fresh runs of both sides."""
    rng = random.Random(3)
    coins = {
        f"t{n}": [rng.random() < 0.5 for _ in range(trials_needed(stored=5, planned=10))]
        for n in range(8)
    }
    found = dealt_outlook(coins, coins, Policy(), stored=5, planned=10, gates=300)
    assert found.suspected > 0

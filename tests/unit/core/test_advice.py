"""Keep, revert, or cannot tell."""

from __future__ import annotations

import pytest

from evalgate.core.advice import advice
from evalgate.core.decision import Decision
from evalgate.core.outcome_cost import OutcomeCost

CHEAP = OutcomeCost(point=1.0, low=0.9, high=1.1)
DEAR = OutcomeCost(point=2.0, low=1.8, high=2.2)
VAGUE = OutcomeCost(point=1.5, low=0.5, high=9.0)


@pytest.mark.parametrize(
    ("decision", "moved", "base", "head", "word"),
    [
        (Decision.REGRESSION, "", CHEAP, CHEAP, "revert"),
        (Decision.REGRESSION, "up", CHEAP, DEAR, "revert"),
        (Decision.REGRESSION, "down", CHEAP, VAGUE, "revert"),
        (Decision.REGRESSION, "down", DEAR, CHEAP, "cannot tell"),
        (Decision.IMPROVED, None, None, None, "keep"),
        (Decision.IMPROVED, "down", DEAR, CHEAP, "keep"),
        (Decision.IMPROVED, "up", CHEAP, VAGUE, "keep"),
        (Decision.IMPROVED, "up", CHEAP, DEAR, "cannot tell"),
        (Decision.PASS, "", CHEAP, CHEAP, "keep"),
        (Decision.PASS, "down", DEAR, CHEAP, "keep"),
        (Decision.PASS, "up", CHEAP, DEAR, "revert"),
        (Decision.NOT_CONFIRMED, None, None, None, "keep"),
        (Decision.UNDECIDED, "up", CHEAP, DEAR, "cannot tell"),
    ],
)
def test_the_word(decision, moved, base, head, word):
    """Quality first; a trade-off is named where both ways surely differ."""
    found = advice(decision, moved, base=base, head=head)
    assert found is not None
    assert found.word == word


@pytest.mark.parametrize(
    "decision", [Decision.VOID, Decision.STALE, Decision.NO_BASELINE, Decision.MOVED]
)
def test_no_advice_on_what_was_not_judged(decision):
    """Nothing is said of the change itself."""
    assert advice(decision, "up", base=CHEAP, head=DEAR) is None


def test_the_trade_off_is_stated():
    """Both prices stand in the sentence; what is unknown is called so."""
    found = advice(Decision.IMPROVED, "up", base=CHEAP, head=DEAR)
    assert found is not None
    assert "a trade-off to weigh: it does better, and a run costs more" in found.why
    assert "$1.00 ($0.9000 to $1.10) → $2.00" in found.why
    unknown = advice(Decision.PASS, None)
    assert unknown is not None
    assert "what a run costs is not known" in unknown.why

"""What attempts say of a task."""

from __future__ import annotations

import pytest

from evalgate.core.proof import Attempt, Proof, flaws_tried
from evalgate.core.trial import Outcome

P, F, E = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED


def tries(*ends: tuple[Outcome, str]) -> list[Attempt]:
    return [
        Attempt(outcome=end, reason="why", hidden=end, passed=frozenset(names.split()))
        for end, names in ends
    ]


@pytest.mark.parametrize(
    ("ends", "untouched", "solved"),
    [
        ([(F, ""), (F, "")], [], ["solution-fails"]),
        ([(P, "a b"), (P, "b a")], ["untouched-passes"], []),
        ([(P, "a b"), (F, "a")], ["untouched-passes", "flaky"], ["flaky"] * 2),
        ([(E, ""), (F, "a")], ["not-measured"], ["not-measured", "flaky"]),
        ([(P, "a"), (P, "a b")], ["untouched-passes", "flaky"], ["flaky"]),
    ],
)
def test_flaws(ends: list[tuple[Outcome, str]], untouched: list[str], solved: list[str]) -> None:
    """Each end that should not be, and each test that ends in two ways."""
    assert [str(flaw.rule) for flaw in flaws_tried(tries(*ends), ())] == untouched
    assert [str(flaw.rule) for flaw in flaws_tried((), tries(*ends))] == solved


def test_flaky_tests_are_named() -> None:
    """The test's own id, and how often it passed."""
    (flaw,) = flaws_tried((), tries((P, "a b"), (P, "a"), (P, "a")))
    assert flaw.said == "with the solution, b passes 1 of 3 times"


@pytest.mark.parametrize(
    ("hidden", "outcome", "said"),
    [
        (P, P, "the hidden tests pass on the untouched files, 1 of 1 time, and an agent that does"
               " nothing passes"),
        (P, F, "the hidden tests pass on the untouched files, 1 of 1 time"),
        (F, P, "an agent that does nothing passes, 1 of 1 time"),
        (None, P, "an agent that does nothing passes, 1 of 1 time"),
    ],
)  # fmt: skip
def test_nothing_done_is_told_once(hidden: Outcome | None, outcome: Outcome, said: str) -> None:
    """That the tests pass and that all of it does is one flaw, and one line."""
    (flaw,) = flaws_tried([Attempt(outcome=outcome, hidden=hidden)], ())
    assert flaw.said == said


def test_one_reason_not_to_measure_is_told_once() -> None:
    """Where both sides errored alike, both are named in one line."""
    (flaw,) = flaws_tried(tries((E, "")), tries((E, "")))
    assert flaw.said == "with nothing done and with the solution: why"
    other = Attempt(outcome=E, reason="another")
    assert [one.said for one in flaws_tried(tries((E, "")), [other])] == [
        "with nothing done: why",
        "with the solution: another",
    ]


def test_the_tests_of_a_proof_are_those_that_always_pass() -> None:
    """One that passes sometimes is none to expect."""
    assert Proof(task="t", solved=tuple(tries((P, "a b"), (P, "a")))).passed == ("a",)
    assert Proof(task="t").passed == ()

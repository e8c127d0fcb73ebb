"""The number that a text ends in, and the token that it holds: never a part of another one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.checks.numbers import is_about, last_number, number_of
from evalgate.checks.table import build_check
from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.observation import Observation
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import Outcome


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It is 7.", "7"),
        ("17", "17"),
        ("7.0", "7"),
        ("$-7 or -$7", "-7"),
        ("= \N{MINUS SIGN}7", "-7"),
        ("\N{EN DASH}7", "-7"),
        ("5-7", "7"),
        ("+7", "7"),
        (".5", "0.5"),
        ("7e3", "7000"),
        ("1e\N{MINUS SIGN}3", "0.001"),
        ("12,345.67 EUR", "12345.67"),
        ("1\N{NO-BREAK SPACE}000", "1000"),
        ("1\N{NARROW NO-BREAK SPACE}000\N{NARROW NO-BREAK SPACE}000", "1000000"),
        ("1'000", "1000"),
        ("1_000", "1000"),
        ("3, 4", "4"),
        ("7% of 10 kg", "10"),
    ],
)
def test_the_last_number_of_a_text(text: str, number: str) -> None:
    """Signs, money and thousands are read as people write them."""
    assert last_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    [
        "1,00",
        "0,001",
        "1.000,5",
        "1234,567",
        "1,000'000",
        "7,8,9",
        "7/8",
        "10:30",
        "1 000",
        "1.2.3",
        "0x1F",
        "7²",
        "7½",
        "1e400",
        "v7",
        "inf",
        "nan",
        "none",
    ],
)
def test_what_may_be_read_in_two_ways_is_no_number(text: str) -> None:
    """A piece of it is not taken for the whole."""
    assert last_number(f"It is {text}") is None
    assert number_of(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30))
def test_every_number_is_itself(number: float) -> None:
    """As Python writes it, alone or at the end of a sentence."""
    wanted = number_of(str(number))
    got = last_number(f"The answer is {number}.")
    assert got is not None
    assert wanted is not None
    assert is_about(got, wanted, tolerance=0.0)


@given(st.text())
def test_any_text_has_a_number_or_none(text: str) -> None:
    """Whatever an agent says, it is no error."""
    number = last_number(text)
    assert number is None or number.is_finite()


def test_whole_numbers_are_compared_to_the_last_digit() -> None:
    """Only what has a fraction is rounded by a computer."""
    one = Decimal(10**18)
    assert not is_about(one, one + 1, tolerance=0.0)
    assert is_about(one, one + 1, tolerance=1.0)
    assert is_about(Decimal("0.30000000000000004"), Decimal("0.3"), tolerance=0.0)
    assert not is_about(Decimal("0.3001"), Decimal("0.3"), tolerance=0.0)


@pytest.mark.parametrize(
    ("expected", "text", "there"),
    [
        ("7", "It is 7!", True),
        ("7", "**7**, $7 or 7%", True),
        ("7", "x=7", True),
        ("7", "17", False),
        ("7", "7.0 or 7,5", False),
        ("7", "\N{MINUS SIGN}7", False),
        ("7", "\N{EN DASH}7", False),
        ("7", "1\N{NO-BREAK SPACE}7", False),
        ("7", "7'000", False),
        ("7", "7/8 at 10:7", False),
        ("-7", "\N{MINUS SIGN}7", True),
        ("\N{MINUS SIGN}7", "-7", True),
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "a cafe\N{COMBINING ACUTE ACCENT}.", True),
        ("C++", "in C++.", True),
    ],
)
def test_a_token_is_no_piece_of_another(expected: str, text: str, there: bool) -> None:
    """Whatever joins it to its neighbours, and however a sign or an accent is written."""
    assert outcome_of(text, expected=expected) is (Outcome.PASSED if there else Outcome.FAILED)


def outcome_of(text: str, **params: Any) -> Outcome:
    """Return how the expected output is found in a file."""
    spec = CheckSpec(type="expected_output", params={"path": "a", **params})
    file = {"a": File(data=text.encode())}
    task = Task(id="t", instruction="", workspace=file, tests={}, digest="d")
    seen = Observation(task=task, workspace=file, claim=Claim())
    return build_check(spec, task="t").examine(seen).outcome

"""Numbers with their nouns."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evalgate
from evalgate.core.rates import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "task", "0 tasks"),
        (1, "task", "1 task"),
        (2, "live trial", "2 live trials"),
        (1, "harness", "1 harness"),
        (3, "harness", "3 harnesses"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
    ],
)
def test_a_number_stands_with_its_noun(number, noun, said):
    """Of one and of many."""
    assert counted(number, noun) == said


def test_nobody_is_left_to_choose_the_ending():
    """No text of the package says *task(s)*."""
    found = [
        f"{path.name}:{one.lineno}: {one.value}"
        for path in Path(evalgate.__file__).parent.rglob("*.py")
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
        if "(s) " in one.value or "(es) " in one.value or one.value.endswith("(s)")
    ]
    assert found == []

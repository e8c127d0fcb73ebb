"""What verdict.json says in short: the same for a real one, and bounded for any."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalgate.core.decision import Decision
from evalgate.core.outline import Outline
from evalgate.errors import ExitCode, UsageError

GOOD: dict[str, Any] = {
    "format": 1,
    "decision": "regression",
    "exit_code": 1,
    "sentence": "It fell.",
    "reasons": ["one"],
    "evidence": "replayed",
    "tasks": [
        {
            "task": "greet",
            "change": "regressed",
            "base": {"passed": 4, "measured": 5, "errored": 0},
            "head": None,
            "p": 0.01,
            "checks": [{"name": "hidden tests", "base": [4, 5], "head": [1, 5]}],
            "why": "because",
        },
        {"task": "add", "change": "same", "base": None, "head": None, "checks": [], "why": ""},
    ],
}


def outline(**other: Any) -> Outline:
    return Outline.parse(json.dumps({**GOOD, **other}).encode(), "verdict.json")


def test_a_verdict_in_short() -> None:
    """Its decision, and the tasks that moved."""
    found = outline()
    assert (found.decision, found.exit_code) == (Decision.REGRESSION, ExitCode.REGRESSION)
    (task,) = found.moved
    assert task.sentence == ("greet: regressed: 4/5 → – (hidden tests 4/5 → 1/5, because)")


def test_what_is_enormous_is_cut() -> None:
    """Whoever wrote it."""
    row = {**GOOD["tasks"][0], "task": "x" * 10**5, "base": {"passed": 10**12, "measured": True}}
    found = outline(sentence="y\n" * 10**5, reasons=["z" * 10**5] * 100, tasks=[row] * 5000)
    assert len(found.sentence) == 600
    assert "\n" not in found.sentence
    assert sum(map(len, found.reasons)) <= 20 * 600
    assert len(found.tasks) == 1000
    assert len(found.tasks[0].task) == 120
    assert found.tasks[0].base == "unknown"


WRONG: dict[str, Any] = {
    "format": 2,
    "decision": "great",
    "exit_code": 42,
    "sentence": None,
    "reasons": "text",
    "tasks": {"a": 1},
}


@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_value_is_named(key: str) -> None:
    """With its key, and no traceback."""
    with pytest.raises(UsageError, match=rf"verdict\.json.*{key.split('_', maxsplit=1)[0]}"):
        outline(**{key: WRONG[key]})


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 10**5, b'{"a":' + b"1" * 5000 + b"}"])
def test_what_is_no_verdict(data: bytes) -> None:
    """It is said in words."""
    with pytest.raises(UsageError, match=r"verdict\.json"):
        Outline.parse(data, "verdict.json")

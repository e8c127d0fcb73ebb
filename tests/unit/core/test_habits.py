"""Calls over again, and asking for leave."""

from __future__ import annotations

import pytest

from evalgate.core.habits import asked_for_confirmation, repeated_calls
from evalgate.core.trajectory import Step, ToolCall, Trajectory


def _calls(*triples: tuple[str, object, str | None]) -> Trajectory:
    calls = [
        ToolCall(name=name, call_id=str(n), input=value, output=output)  # type: ignore[arg-type]
        for n, (name, value, output) in enumerate(triples)
    ]
    return Trajectory(calls=tuple(calls))


def test_a_call_over_again() -> None:
    """The order of keys is no difference; another input or another name is one."""
    one, same = {"path": "a", "n": 1}, {"n": 1, "path": "a"}
    found = _calls(("read", one, "x"), ("read", same, "x"), ("read", one, "x"), ("cat", one, "x"))
    assert repeated_calls(found) == 2
    assert repeated_calls(_calls(("read", {"n": 1}, "x"), ("read", {"n": 2}, "x"))) == 0


def test_a_call_that_says_something_new_is_no_repetition() -> None:
    """The tests are run again after an edit."""
    found = _calls(("bash", "pytest", "1 failed"), ("edit", "a", ""), ("bash", "pytest", "passed"))
    assert repeated_calls(found) == 0
    assert repeated_calls(Trajectory()) == 0


@pytest.mark.parametrize(
    "text",
    [
        "I would rename it. Should I proceed?",
        "Would you like me to fix the tests too?",
        "Please confirm that the file may go.",
        "I have a plan. Let me know if you agree",
        "Is this okay with you?",
        "Waiting for your approval.",
    ],
)
def test_asking_for_leave(text: str) -> None:
    """Nobody is there to answer."""
    assert asked_for_confirmation(Trajectory(steps=(Step(text=text),))) == 1


@pytest.mark.parametrize(
    "text",
    ["", "Done: the tests pass.", "Why does it fail? Because n is None.", "I can start now."],
)
def test_what_is_no_such_question(text: str) -> None:
    """Questions that it answers itself are none, nor are those to side conversations."""
    assert asked_for_confirmation(Trajectory(steps=(Step(text=text),))) == 0
    side = Step(text="Should I proceed?", conversation=1)
    assert asked_for_confirmation(Trajectory(steps=(side,))) == 0

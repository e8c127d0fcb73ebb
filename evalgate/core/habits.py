"""Habits of an agent that a pass rate does not show: calls over again, and asking for leave."""

from __future__ import annotations

import re
from typing import Final

from evalgate.core.identity import canonical
from evalgate.core.trajectory import Trajectory

#: Questions to a person who is not there: nobody answers in a trial.
_ASKING: Final = re.compile(
    r"\b(?:should|shall|may|can) i (?:go ahead|proceed|continue|start|apply|make|do)\b"
    r"|\b(?:would you like|do you want) (?:me|this|that|it|us)\b"
    r"|\bplease (?:confirm|approve|let me know)\b"
    r"|\blet me know (?:if|whether|how|which)\b"
    r"|\b(?:is (?:that|this|it)|are you) (?:ok|okay|fine|all right|alright)\b[^.!\n]*\?"
    r"|\b(?:awaiting|waiting for) your (?:confirmation|approval|answer|reply)\b",
    re.IGNORECASE,
)


def repeated_calls(trajectory: Trajectory) -> int:
    """Return how many tool calls repeat an earlier one: name, input and output are the same.

    A test that is run again after an edit says something else, and is no repetition.
    """
    seen: set[tuple[str, bytes, str | None]] = set()
    repeated = 0
    for call in trajectory.calls:
        one = (call.name, canonical(call.input), call.output)
        repeated += one in seen
        seen.add(one)
    return repeated


def asked_for_confirmation(trajectory: Trajectory) -> int:
    """Return how many replies in the agent's own conversation ask a person for leave.

    Known by a few turns of phrase in English: a count to be compared, not a proof.
    """
    return sum(asks(step.text) for step in trajectory.steps if step.conversation == 0)


def asks(text: str) -> bool:
    """Tell whether a text asks a person for leave."""
    return _ASKING.search(text) is not None

"""Which turns belong together: an agent's own conversation, and those beside it.

Agents ask for titles and summaries, check who speaks next, and send sub-agents. Nothing on the
wire names a conversation, so it is told by what stays the same in one: whether tools are
offered, and the system prompt, or most lines of it (a counter or a date may change in the rest).
Messages do not tell it: agents shorten them when they grow too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.core.json import Json
from evalgate.gateway.dialects.dialect import Asked, Dialect
from evalgate.gateway.reading import member

_DEEPEST: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """What tells a conversation; ``size`` is the length of its first request's texts."""

    tools: bool
    lines: frozenset[str]
    size: int


class Dialogues:
    """Numbers the conversations of a trial in the order in which they begin."""

    def __init__(self) -> None:
        """Know none."""
        self._marks: list[_Mark] = []

    def join(self, asked: Asked, dialect: Dialect) -> int:
        """Return the number of the conversation that a request belongs to."""
        tools = bool(asked.parts.get("tools"))
        system = spoken(asked.parts.get("system"), dialect)
        lines = frozenset(line.strip() for line in system.splitlines() if line.strip())
        for number, mark in enumerate(self._marks):
            if mark.tools == tools and _alike(mark.lines, lines):
                return number
        size = len(system) + len(spoken(asked.parts.get("messages"), dialect))
        self._marks.append(_Mark(tools=tools, lines=lines, size=size))
        return len(self._marks) - 1

    def main(self, joined: Sequence[int]) -> int | None:
        """Return the agent's own conversation, given the number of each turn; None without one.

        It is the first one in which the model was offered tools: titles and summaries need
        none, and a sub-agent begins after the agent that sends it. An agent that offers none
        at all speaks most often in its own conversation, or else has more to say there.
        """
        if not joined:
            return None
        equipped = [number for number in joined if self._marks[number].tools]
        if equipped:
            return min(equipped)
        return max(joined, key=lambda number: (joined.count(number), self._marks[number].size))


def spoken(value: Json, dialect: Dialect, *, deepest: int = _DEEPEST) -> str:
    """Return the text of messages, one line or more for each piece."""
    if isinstance(value, str):
        return value
    if not deepest:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (spoken(one, dialect, deepest=deepest - 1) for one in value)))
    found = (inner for name in dialect.texts if (inner := member(value, name)) is not None)
    return spoken(next(found, ""), dialect, deepest=deepest - 1)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or 2 * len(one & other) > max(len(one), len(other))

"""The tool calls of two trials against one another, a line a call, as a diff."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

from evalgate.core.plain import shortened
from evalgate.core.trajectory import ToolCall

#: A line of a call is cut to so many characters.
_WIDE: Final = 120
#: So many equal calls are shown around a difference.
_AROUND: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsChange:
    """The calls of a trial that passed before, and of one that fails now; None is unknown."""

    before: tuple[str, ...] | None
    after: tuple[str, ...] | None

    @property
    def sentence(self) -> str:
        """Say what there is to compare."""
        before, after = self.before, self.after
        if before is None or after is None:
            sides = ("a trial that passed before", before), ("this trial", after)
            lacking = " and of ".join(said for said, calls in sides if calls is None)
            return f"The tool calls of {lacking} are not known here."
        if before == after:
            return f"The tool calls are the same: {len(after)}." if after else "No tool was called."
        return (
            f"Tool calls, from a trial that passed before (−, {len(before)})"
            f" to this one (+, {len(after)}):"
        )

    @property
    def diff(self) -> str:
        """The difference, empty where there is none or a side is unknown."""
        if self.before is None or self.after is None:
            return ""
        lines = unified_diff(self.before, self.after, lineterm="", n=_AROUND)
        return "\n".join([*lines][2:])


def call_line(call: ToolCall) -> str:
    """Return one call in a line: its name, what it was given, and whether it failed."""
    given = call.input
    if isinstance(given, Mapping):
        said = ", ".join(f"{name}={_value(value)}" for name, value in given.items())
    else:
        said = _value(given)
    line = " ".join(f"{call.name}({said})".split())
    line = shortened(line, _WIDE)
    return f"{line} → failed" if call.ok is False else line


def call_lines(calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """Return a line for each call."""
    return tuple(map(call_line, calls))


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

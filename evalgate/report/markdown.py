"""Text of strangers inside Markdown: shown as it is, never understood as markup."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TICKS = re.compile(r"`+")


def escape(text: object) -> str:
    """Escape one line for a table cell or a sentence; no mention, link or markup survives."""
    line = _CONTROL.sub("\ufffd", str(text).replace("\n", " ⏎ ").replace("\t", " "))
    # A zero-width space keeps GitHub from notifying people and closing issues.
    return _MARKUP.sub(r"\\\1", line).replace("@", "@\u200b")


def fence(text: str, language: str = "", *, lines: int = 60) -> str:
    """Return a code block no content can close, cut to a number of lines."""
    clean = _CONTROL.sub("\ufffd", text).splitlines()
    if len(clean) > lines:
        clean = [*clean[:lines], f"… {len(clean) - lines} more lines"]
    longest = max((len(run) for line in clean for run in _TICKS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *clean, ticks])

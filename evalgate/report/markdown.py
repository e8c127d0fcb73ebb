"""Text of strangers inside Markdown: shown as it is, never understood as markup."""

from __future__ import annotations

import html
import re

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LINKED = re.compile(r"(@|#|://|www(?=\.)|GH(?=-))", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def escape(text: object) -> str:
    """Escape one line for a table cell or a sentence; no mention, link or markup survives."""
    return _MARKUP.sub(r"\\\1", _one_line(text))


def escape_html(text: object) -> str:
    """Escape one line for a place where Markdown is not read, as inside ``<summary>``."""
    return html.escape(_one_line(text))


def _one_line(text: object) -> str:
    line = _CONTROL.sub("\ufffd", str(text).replace("\n", " ⏎ ").replace("\t", " "))
    # A zero-width space keeps GitHub from making links, notifying people and closing issues.
    return _LINKED.sub("\\1\u200b", line)


def fence(text: str, language: str = "", *, lines: int = 60) -> str:
    """Return a code block no content can close, cut to a number of lines."""
    clean = _CONTROL.sub("\ufffd", text).splitlines()
    if len(clean) > lines:
        clean = [*clean[:lines], f"… {len(clean) - lines} more lines"]
    longest = max((len(run) for line in clean for run in _TICKS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *clean, ticks])

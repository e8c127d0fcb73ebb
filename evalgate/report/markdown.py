"""Text of strangers inside Markdown: shown as it is, never understood as markup."""

from __future__ import annotations

import html
import re

from evalgate.core.plain import colourless, shortened

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&$])")
#: What is no sign to be read: controls, marks that turn or hide what stands beside them.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
#: What GitHub links, calls or closes by: a mark goes behind it, or before where a scheme ends.
_LINKED = re.compile(r"(@|#|www(?=\.)|GH(?=-)|(?=://))", re.IGNORECASE)
#: What stands where there is nothing, so that no emphasis or cell is empty.
_NOTHING = "–"
#: What makes a list, a heading or a line of what follows, where a line begins with it.
_BEGINS = re.compile(r"^([-+](?= |$)|[-=](?=[-= ]*$)|\d{1,9}(?=[.)](?: |$)))")
_TICKS = re.compile(r"`+")

#: A line of a block is cut to so many characters.
_WIDE = 240


def escape(text: object, most: int = 0) -> str:
    """Escape one line for a table cell or a sentence; no mention, link or markup survives.

    With ``most`` it is cut to so many characters before.
    """
    line = _MARKUP.sub(r"\\\1", _unlinked(_one_line(text, most)))
    found = _BEGINS.match(line)
    if found is None:
        return line
    mark = found[1]
    return f"{mark}\\{line[len(mark) :]}" if mark.isdigit() else f"\\{line}"


def code(text: object, most: int = 0) -> str:
    """Return one line as code, for names that are copied: in it nothing is markup or a link."""
    line = _one_line(text, most)
    if line == _NOTHING or "|" in line:  # a cell ends there, code or not
        return escape(line)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith((" ", "`")) or line.endswith((" ", "`")) else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def escape_html(text: object, most: int = 0) -> str:
    """Escape one line for a place where Markdown is not read, as inside ``<summary>``."""
    return html.escape(_unlinked(_one_line(text, most)))


def fence(text: str, language: str = "", *, lines: int = 60) -> str:
    """Return a code block no content can close, cut to a number of lines, and long lines too."""
    found = colourless(text).replace("\r\n", "\n").removesuffix("\n").split("\n")
    clean = [_CONTROL.sub("\ufffd", _cut(line, _WIDE)) for line in found[:lines]]
    if len(found) > lines:
        clean.append(f"… {len(found) - lines} more lines")
    longest = max((len(run) for line in clean for run in _TICKS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *clean, ticks])


def _one_line(text: object, most: int) -> str:
    whole = str(text)
    line = whole[: 4 * most] if most else whole  # what is far beyond the cut is not looked at
    line = (
        colourless(line).replace("\r\n", "\n").strip("\n").replace("\n", " ⏎ ").replace("\t", " ")
    )
    return _cut(_CONTROL.sub("\ufffd", line).strip(), most) or _NOTHING


def _unlinked(line: str) -> str:
    # A zero-width space keeps GitHub from making links, notifying people and closing issues.
    return _LINKED.sub("\\1\u200b", line)


def _cut(line: str, most: int) -> str:
    return shortened(line, most) if most else line

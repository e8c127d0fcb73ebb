"""Text of agents, tests and engines as a terminal may get it: it can only be read."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Colours and the like, which many programs put around their words.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;:]*m")
#: Control characters but for tab and line feed, and those that turn the direction of writing.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

#: What a terminal is told to do: after ESC [ (colours, the cursor) or ESC ] (titles, links).
_TOLD: Final = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def plain(text: str) -> str:
    r"""Return the text without colours, and with every other control character written out.

    ``ESC [ 2 J``, which clears the screen, becomes ``\x1b[2J``; lines and tabs stay.
    """
    return _CONTROL.sub(_written_out, colourless(text))


def colourless(text: str) -> str:
    """Return the text without colours."""
    return _COLOUR.sub("", text)


def shortened(text: str, most: int) -> str:
    """Return at most so many characters of a text; the last one is … where there were more."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def readable(text: str) -> str:
    """Return a text of strangers as a file may keep it: only what can be seen, and lines and tabs.

    Gone is what steers a terminal, turns the direction of writing or has no shape; half a
    character is a question mark. Blanks around the text are gone as well.
    """
    whole = _TOLD.sub("", text).encode("utf-8", "replace").decode()
    return "".join(filter(_shown, whole)).strip()


def _shown(one: str) -> bool:
    return one in "\n\t" or not unicodedata.category(one).startswith("C")


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")

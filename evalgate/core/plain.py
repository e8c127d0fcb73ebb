"""Text of agents, tests and engines as a terminal may get it: it can only be read."""

from __future__ import annotations

import re
from typing import Final

#: Colours and the like, which many programs put around their words.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;:]*m")
#: Control characters but for tab and line feed, and those that turn the direction of writing.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    r"""Return the text without colours, and with every other control character written out.

    ``ESC [ 2 J``, which clears the screen, becomes ``\x1b[2J``; lines and tabs stay.
    """
    return _CONTROL.sub(_written_out, colourless(text))


def colourless(text: str) -> str:
    """Return the text without colours."""
    return _COLOUR.sub("", text)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")

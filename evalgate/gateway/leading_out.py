"""Paths that lead out of an API: whoever follows them would take the key where nobody meant it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

#: Why such a path is not taken.
LEADS_OUT: Final = "a path with dot segments, backslashes or control characters is not taken"

#: What may begin, or hide, a segment of dots; an ordinary path has none of it.
_SUSPECT: Final = re.compile(r"%|\\|/\.|[\x00-\x20\x7f]")

#: Some servers take what comes after ``;`` for a parameter of the segment.
_OUT: Final = re.compile(r"[\\\x00-\x1f\x7f]|(?:^|/)\.{1,2}(?:;[^/]*)?(?=/|$)")

#: Nobody encodes more often than this without something to hide.
_DEEPEST: Final = 8


def leads_out(raw: str) -> bool:
    """Tell whether a path, as it came on the wire, may lead elsewhere than it seems to.

    However often it is decoded on its way, it must have no segment ``.`` or ``..``, no backslash
    (which many take for a slash) and no control character (which many leave out).
    """
    if _SUSPECT.search(raw) is None:
        return False
    for _ in range(_DEEPEST):
        if _OUT.search(raw):
            return True
        plain = unquote(raw)
        if plain == raw:
            return False
        raw = plain
    return True

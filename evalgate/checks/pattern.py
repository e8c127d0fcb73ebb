"""A regular expression of a task, and the search for it in text of strangers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evalgate.checks.apart import SECONDS, look
from evalgate.core.json import JsonObject
from evalgate.core.schema import Reader

_DOING: Final = "the search"


def read_pattern(params: Reader, key: str = "pattern", default: str | None = None) -> str:
    """Read a regular expression; ``^`` and ``$`` match at every line."""
    pattern = params.text(key, default)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise params.error(f"is no regular expression: {error}", key) from error
    return pattern


def found_in(text: str, pattern: str, *, seconds: float = SECONDS) -> bool:
    """Tell whether a pattern matches somewhere.

    Raises ApartError when time or memory did not suffice.
    """
    return bool(_search(text, pattern, seconds, first=True))


def count_in(text: str, pattern: str, *, seconds: float = SECONDS) -> int:
    """Return how often a pattern matches, with no overlap; ApartError as `found_in`."""
    return _search(text, pattern, seconds, first=False)


def lines_with(lines: Sequence[str], pattern: str) -> list[int]:
    """Return the places, from 0, of the lines in which a pattern matches; ApartError likewise."""
    return [int(at) for at in look("lines", {"lines": lines, "pattern": pattern}, doing=_DOING)]


def _search(text: str, pattern: str, seconds: float, *, first: bool) -> int:
    given: JsonObject = {"text": text, "pattern": pattern, "first": first}
    return int(look("search", given, doing=_DOING, seconds=seconds))

"""A stream that is one JSON array: its items, as far as they came."""

from __future__ import annotations

import json
import re

from evalgate.core.json import Json
from evalgate.gateway import reading

_BETWEEN = re.compile(r"[\s,\[]*")


def read_array(body: bytes) -> list[Json]:
    """Return the items of an array; of one that is cut off, those that are whole."""
    whole = reading.parse(body)
    if isinstance(whole, list):
        return whole
    text = body.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    items: list[Json] = []
    position = _end_of_gap(text, 0)
    while position < len(text):
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        items.append(reading.parse(text[position:end]))
        position = _end_of_gap(text, end)
    return items


def _end_of_gap(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position

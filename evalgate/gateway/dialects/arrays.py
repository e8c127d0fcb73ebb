"""A stream that is one JSON array: its items, as far as they came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from evalgate.core.json import Json
from evalgate.gateway import reading
from evalgate.gateway.streams.blocks import Find
from evalgate.gateway.streams.joining import Link, Strand, edit_links

_BETWEEN = re.compile(r"[\s,\[]*")


def is_array(body: bytes) -> bool:
    """Tell an array by its first character."""
    return body.lstrip()[:1] == b"["


def read_array(body: bytes) -> list[Json]:
    """Return the items of an array; of one that is cut off, those that are whole."""
    whole = reading.parse(body)
    if isinstance(whole, list):
        return whole
    text = body.decode("utf-8", "replace")
    return [reading.parse(text[start:end]) for start, end in _items(text)]


def edit_array(body: bytes, find: Find, strand: Strand) -> bytes | None:
    """Edit the strings of a stream's items: ``find`` sees texts that are cut over them joined.

    Only items that change are written anew. None for what is no stream: an array holds
    something else than objects, or is no text at all.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    links: list[Link] = []
    position = 0
    for start, end in _items(text):
        value = reading.parse(text[start:end])
        if not isinstance(value, dict):
            return None
        links.append(Link(raw=text[position:start].encode()))
        links.append(Link(raw=text[start:end].encode(), value=value))
        position = end
    if not links:
        return None
    return edit_links([*links, Link(raw=text[position:].encode())], find, strand)


def _items(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each whole item begins and ends."""
    decoder = json.JSONDecoder()
    position = _end_of_gap(text, 0)
    while position < len(text):
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        yield position, end
        position = _end_of_gap(text, end)


def _end_of_gap(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position

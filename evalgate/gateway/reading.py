"""Careful access to JSON that others wrote: what is not there, or not so, is empty.

In files of our own a value of another kind is damage: ``needed_*`` raise TypeError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from evalgate.core.json import Json, JsonObject


def parse(text: bytes | str) -> Json:
    """Return the JSON value, or None for what is none."""
    try:
        value: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value


def member(value: Json, *path: str | int) -> Json:
    """Follow names and indexes; None when one of them is missing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, Mapping) else None
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def mapping(value: Json, *path: str | int) -> JsonObject:
    """Return the object there, or an empty one."""
    found = member(value, *path)
    return found if isinstance(found, Mapping) else {}


def items(value: Json, *path: str | int) -> list[Json]:
    """Return the list there, or an empty one."""
    found = member(value, *path)
    return found if isinstance(found, list) else []


def mappings(value: Json, *path: str | int) -> list[JsonObject]:
    """Return the objects of the list there, without what else is in it."""
    return [one for one in items(value, *path) if isinstance(one, Mapping)]


def text(value: Json, *path: str | int) -> str:
    """Return the string there, or an empty one."""
    found = member(value, *path)
    return found if isinstance(found, str) else ""


def count(value: Json, *path: str | int) -> int | None:
    """Return the whole number there, or None."""
    found = member(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def needed_object(value: Json) -> JsonObject:
    """Return the value, which must be an object."""
    if not isinstance(value, Mapping):
        raise TypeError("an object is missing")
    return value


def needed_list(value: Json) -> Sequence[Json]:
    """Return the value, which must be a list."""
    if not isinstance(value, list):
        raise TypeError("a list is missing")
    return value


def content_text(content: Json) -> str:
    """Return the text of a message's content, given as a string or as a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(_block_text(block) for block in content)


def _block_text(block: Json) -> str:
    if isinstance(block, str):
        return block
    written = member(block, "text")
    return written if isinstance(written, str) else f"[{text(block, 'type') or 'block'}]"

"""Strings with line ends as arrays of lines, and back: one changed line is one line of a diff."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import orjson

from evalgate.core.json import Json
from evalgate.gateway.keys.canonical import encode

#: ``{"$lines": [...]}`` stands for a string, ``{"$json": text}`` for a value nested too deeply.
#: A real member of such a name gets one more ``$``.
_MARK = "$lines"
_DEEP = "$json"
_REAL = re.compile(r"\$+(?:lines|json)")
_ESCAPED = re.compile(r"\$\$+(?:lines|json)")


#: Deeper than any conversation, and far from the end of Python's stack.
_DEEPEST = 200


def split_lines(value: Json, depth: int = 0) -> Json:
    """Return the value with arrays of lines.

    ValueError for a number that JSON can not say, and for nesting beyond all measure.
    """
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        return {_MARK: value.split("\n")} if "\n" in value else value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number of JSON")
    if isinstance(value, Mapping):
        return {
            f"${key}" if _REAL.fullmatch(key) else key: split_lines(inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [split_lines(inner, depth + 1) for inner in value]
    return value


def join_lines(value: Json) -> Json:
    """Return what `split_lines` was given."""
    if isinstance(value, Mapping):
        lines = value.get(_MARK)
        if isinstance(lines, list) and len(value) == 1:
            return "\n".join(str(line) for line in lines)
        return {
            key[1:] if _ESCAPED.fullmatch(key) else key: join_lines(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [join_lines(inner) for inner in value]
    return value


def split_piece(data: bytes) -> Json:
    """Return canonical JSON as a value with arrays of lines."""
    value: Json = orjson.loads(data)
    try:
        return split_lines(value)
    except ValueError:
        return {_DEEP: data.decode()}


def join_piece(value: Json) -> bytes:
    """Return the canonical JSON that `split_piece` was given."""
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get(_DEEP), str):
        return encode(orjson.loads(str(value[_DEEP])))
    return encode(join_lines(value))

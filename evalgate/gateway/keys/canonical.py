"""Canonical JSON: sorted members and no spaces, only where that loses nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Final, NoReturn

import orjson

from evalgate.core.json import Json

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1

#: How every piece is written: the one encoder of keys.
SORTED: Final = orjson.OPT_SORT_KEYS


def encode(value: Json) -> bytes:
    """Return a value as canonical JSON."""
    # Copied to its size: orjson leaves the buffer it grew, and pieces are held for long.
    return bytes(memoryview(orjson.dumps(value, option=SORTED)))


def decode_exactly(text: bytes) -> tuple[bool, Json]:
    """Return whether JSON text keeps its meaning when it is parsed, and its value.

    It does not where numbers go beyond 64 bits or beyond a double, or a member is named twice;
    what is no JSON does not either.
    """
    try:
        value: Json = orjson.loads(text)
        written = orjson.dumps(value)
    except (orjson.JSONDecodeError, TypeError):
        return False, None
    # Compact JSON of equal length lost nothing: the case of nearly every client. Only the
    # others pay for the exact test.
    return len(written) == len(text) or _survives(text), value


def _survives(text: bytes) -> bool:
    try:
        json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_whole,
            parse_float=_fraction,
            parse_constant=_lost,
        )
    except (ValueError, RecursionError):
        return False
    return True


def _members(pairs: list[tuple[str, Json]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        _lost("a member named twice")


def _whole(text: str) -> None:
    number = int(text)
    if str(number) != text or not _INT_MIN <= number <= _INT_MAX:
        _lost(text)


def _fraction(text: str) -> None:
    if Decimal(text) != Decimal(repr(float(text))):
        _lost(text)


def _lost(what: str) -> NoReturn:
    raise ValueError(what)

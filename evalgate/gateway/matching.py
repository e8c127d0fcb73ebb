"""The key a request is matched by: a digest of all that it says to the model, and nothing else.

Headers are not in it: the ids of session and process stand there. ``stream`` is in it: the
recorded bytes of a stream are no answer to a client that asked for JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NoReturn

import orjson

from evalgate.core.json import Json
from evalgate.core.redaction import Redactor
from evalgate.core.scrubs import scrub_bytes
from evalgate.gateway.dialects.dialect import Dialect

#: The version of the key's making; part of every key.
FORMAT: Final = 1

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """A request as it is stored and matched."""

    dialect: str
    method: str
    path: str
    request: bytes
    key: str


def keyed(
    dialect: Dialect,
    method: str,
    path: str,
    body: bytes,
    *,
    redactor: Redactor,
    places: Mapping[str, str],
) -> Keyed:
    """Return a request in its stored form, with its key."""
    whole = canonical(body, drops=dialect.drops)
    text = body if whole is None else whole
    clean = scrub_bytes(redactor.data(text), places)
    if whole is not None and clean != text:
        # A replaced path may be the name of a member, so the order may have changed.
        clean = canonical(clean) or clean
    key = key_of(method, path, clean)
    return Keyed(dialect=dialect.name, method=method, path=path, request=clean, key=key)


def key_of(method: str, path: str, request: bytes) -> str:
    """Return the key (64 hex) of a request in its stored form."""
    head = f"evalgate request {FORMAT}\0{method}\0{path}\0".encode()
    return hashlib.sha256(head + request).hexdigest()


def canonical(body: bytes, *, drops: tuple[str, ...] = ()) -> bytes | None:
    """Return JSON with sorted members and no spaces; None for what is not JSON.

    None also for JSON that would not survive it: numbers beyond 64 bits or beyond a double,
    a member named twice. Such a body is keyed by its bytes, so two requests that differ never
    meet.
    """
    try:
        value: Json = orjson.loads(body)
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONDecodeError, TypeError):
        return None
    # Sorting changes no length, so compact JSON of equal length lost nothing: the case of
    # nearly every client. Only the others pay for the exact test.
    if len(text) != len(body) and not _survives(body):
        return None
    dropped = [name for name in drops if isinstance(value, dict) and name in value]
    if isinstance(value, dict) and dropped:
        kept = {key: inner for key, inner in value.items() if key not in dropped}
        return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    return text


def _survives(body: bytes) -> bool:
    try:
        json.loads(
            body,
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

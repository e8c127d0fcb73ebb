"""A cassette on disk: one trial's exchanges and claim as JSON that git can diff.

Strings with line ends are arrays of lines; a request names what it adds to an earlier one;
a digest closes the file. What is read must be, byte for byte, what would be written.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.json import Json, JsonObject
from evalgate.core.redaction import Redactor
from evalgate.errors import UsageError
from evalgate.gateway.deltas import Measured, measure, restore, shorten
from evalgate.gateway.lines import join_lines, split_lines
from evalgate.gateway.matching import canonical
from evalgate.gateway.reading import needed_list, needed_object
from evalgate.gateway.sse import edit_stream, is_stream

FORMAT: Final = 1

_MENDING = "take the file from git again, or record the trial again"
_NEWER = "install a newer evalgate"
_LEAK = "remove the secret from what is stored; nothing was written"
_SORTED = orjson.OPT_SORT_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteFile:
    """Everything one cassette holds; ``digest`` is that of the file it was read from."""

    header: JsonObject
    exchanges: tuple[Exchange, ...]
    claim: JsonObject
    record: JsonObject
    digest: str = ""


def dump_cassette(cassette: CassetteFile, *, redactor: Redactor | None = None) -> bytes:
    """Return the file. UsageError when it would hold a secret, or what JSON can not say."""
    guard = redactor or Redactor({})
    _refuse_leaks(cassette, guard)
    try:
        data = _encode(
            {
                "format": FORMAT,
                "header": split_lines(cassette.header),
                "exchanges": _dump_exchanges(cassette.exchanges),
                "claim": split_lines(cassette.claim),
                "record": split_lines(cassette.record),
            }
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"a cassette can not hold this: {error}") from error
    _refuse(guard.leaks(data))
    return data


def load_cassette(data: bytes, *, name: str) -> CassetteFile:
    """Read a file. UsageError naming it when it is cut, edited, or of a newer format."""
    try:
        parsed: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{name} is no whole cassette: {error}", hint=_MENDING) from error
    version = parsed.get("format") if isinstance(parsed, Mapping) else None
    if not isinstance(parsed, Mapping) or not isinstance(version, int):
        raise UsageError(f"{name} is no cassette: it names no format", hint=_MENDING)
    if version > FORMAT:
        raise UsageError(f"{name} has format {version}, newer than {FORMAT}", hint=_NEWER)
    rest = {key: value for key, value in parsed.items() if key != "sha256"}
    if _encode(rest) != data:
        message = f"{name} was edited or damaged: its digest does not fit its content"
        raise UsageError(message, hint=_MENDING)
    try:
        return CassetteFile(
            header=needed_object(join_lines(parsed["header"])),
            exchanges=_load_exchanges(parsed["exchanges"]),
            claim=needed_object(join_lines(parsed["claim"])),
            record=needed_object(join_lines(parsed["record"])),
            digest=_digest(rest),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{name} is no cassette: {error}", hint=_MENDING) from error


def digest_of(data: bytes) -> str:
    """Return the digest that a file of ours closes with."""
    return _text(needed_object(orjson.loads(data))["sha256"])


def _digest(rest: JsonObject) -> str:
    return hashlib.sha256(orjson.dumps(rest, option=_SORTED)).hexdigest()


def _encode(rest: JsonObject) -> bytes:
    whole = {**rest, "sha256": _digest(rest)}
    indented = orjson.dumps(whole, option=_SORTED | orjson.OPT_INDENT_2)
    # One space a level: conversations are deep, and strings hold no bare line ends.
    return re.sub(rb"(?m)^( +)\1", rb"\1", indented) + b"\n"


def _dump_exchanges(exchanges: Sequence[Exchange]) -> list[Json]:
    earlier: list[Measured | None] = []
    dumped: list[Json] = []
    for exchange in exchanges:
        request = _measured(exchange.request)
        entry: dict[str, Json] = {
            "dialect": exchange.dialect,
            "method": exchange.method,
            "path": exchange.path,
            "key": exchange.key,
            "status": exchange.status,
            "headers": split_lines(exchange.headers),
            "ending": str(exchange.ending),
            "began": exchange.began,
            "seconds": exchange.seconds,
            **_dump_bytes("body", exchange.body),
        }
        if request is None:
            entry |= _dump_bytes("request_bytes", exchange.request)
        else:
            entry["request"] = split_lines(shorten(request, earlier))
        earlier.append(request)
        dumped.append(entry)
    return dumped


def _load_exchanges(value: Json) -> tuple[Exchange, ...]:
    earlier: list[JsonObject | None] = []
    loaded: list[Exchange] = []
    for item in needed_list(value):
        entry = needed_object(item)
        request: JsonObject | None = None
        if "request" in entry:
            request = restore(needed_object(join_lines(entry["request"])), earlier)
            sent = orjson.dumps(request, option=_SORTED)
        else:
            sent = _load_bytes("request_bytes", entry)
        earlier.append(request)
        headers = needed_object(join_lines(entry["headers"]))
        loaded.append(
            Exchange(
                dialect=_text(entry["dialect"]),
                method=_text(entry["method"]),
                path=_text(entry["path"]),
                request=sent,
                key=_text(entry["key"]),
                status=int(_number(entry["status"])),
                headers={name: _text(header) for name, header in headers.items()},
                body=_load_bytes("body", entry),
                ending=Ending(_text(entry["ending"])),
                began=float(_number(entry["began"])),
                seconds=float(_number(entry["seconds"])),
            )
        )
    return tuple(loaded)


def _measured(request: bytes) -> Measured | None:
    """Return the object only when writing it again gives back the same bytes."""
    if canonical(request) != request:
        return None
    value: Json = orjson.loads(request)
    try:
        split_lines(value)
    except ValueError:
        return None
    return measure(value) if isinstance(value, Mapping) else None


def _dump_bytes(name: str, data: bytes) -> dict[str, Json]:
    try:
        return {name: split_lines(data.decode())}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def _load_bytes(name: str, entry: JsonObject) -> bytes:
    if name in entry:
        return _text(join_lines(entry[name])).encode()
    try:
        return base64.b64decode(_text(entry[f"{name}_base64"]), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _refuse_leaks(cassette: CassetteFile, guard: Redactor) -> None:
    """Look before the text is cut into lines or base64, where a secret could hide."""
    for exchange in cassette.exchanges:
        _refuse(guard.leaks(exchange.request) or guard.leaks(exchange.body))
        if is_stream(exchange.body) and edit_stream(exchange.body, guard.spans) != exchange.body:
            _refuse(["a key in the pieces of a stream"])
    for value in (cassette.header, cassette.claim, cassette.record):
        try:
            text = orjson.dumps(value)
        except TypeError as error:
            raise UsageError(f"a cassette can not hold this: {error}") from error
        _refuse(guard.leaks(text))


def _refuse(leaks: Sequence[str]) -> None:
    if leaks:
        found = ", ".join(leaks)
        raise UsageError(f"the cassette would hold a secret: {found}", hint=_LEAK)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("a string is missing")
    return value


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number is missing")
    return value

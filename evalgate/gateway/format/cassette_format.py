"""A cassette on disk: one trial's exchanges and claim as JSON that git can diff.

Strings with line ends are arrays of lines; every piece of a request stands once, and events
are folded; a digest closes the file. What is read must be, byte for byte, what would be written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.json import Json, JsonObject
from evalgate.core.redaction import Redactor
from evalgate.core.request import distinct
from evalgate.errors import UsageError
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.format.folding import fold, unfold
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.joined import JoinedTexts
from evalgate.gateway.format.lines import join_lines, split_lines
from evalgate.gateway.format.parts import PartsReader, PartsWriter
from evalgate.gateway.keys.canonical import encode
from evalgate.gateway.keys.matching import key_again
from evalgate.gateway.reading import needed_list, needed_object

FORMAT: Final = 2

_MARKER: Final = re.compile(rb"(?m)^(?:<{7}|>{7}) ")
_MENDING = "take the file from git again, or record the trial again"
_OLDER = "record the trial again"
_NEWER = "install a newer evalgate"
_LEAK = "remove the secret from what is stored; nothing was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteFile:
    """Everything one cassette holds; ``digest`` is that of the file it was read from."""

    header: Header
    exchanges: tuple[Exchange, ...]
    claim: JsonObject
    record: JsonObject
    digest: str = ""


def dump_cassette(cassette: CassetteFile, *, redactor: Redactor | None = None) -> bytes:
    """Return the file. UsageError when it would hold a secret, or what JSON can not say."""
    guard = redactor or Redactor({})
    _refuse_leaks(cassette, guard)
    writer = ExchangeWriter()
    try:
        entries = [writer.add(exchange) for exchange in cassette.exchanges]
        data = _encode(
            {
                "format": FORMAT,
                "header": _in_order(cassette.header.to_json()),
                "parts": writer.parts,
                "exchanges": entries,
                "claim": _in_order(cassette.claim),
                "record": _in_order(cassette.record),
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
        if in_conflict(data):
            message = f"{name} holds the conflict markers of a merge"
            raise UsageError(message, hint=one_side(_set_of(name))) from error
        raise UsageError(f"{name} is no whole cassette: {error}", hint=_MENDING) from error
    version = parsed.get("format") if isinstance(parsed, Mapping) else None
    if not isinstance(parsed, Mapping) or not isinstance(version, int):
        raise UsageError(f"{name} is no cassette: it names no format", hint=_MENDING)
    if version < FORMAT:
        raise UsageError(f"{name} has format {version}, which is no longer read", hint=_OLDER)
    if version > FORMAT:
        raise UsageError(f"{name} has format {version}, newer than {FORMAT}", hint=_NEWER)
    rest = {key: value for key, value in parsed.items() if key != "sha256"}
    if _encode(rest) != data:
        message = f"{name} was edited or damaged: its digest does not fit its content"
        raise UsageError(message, hint=_MENDING)
    try:
        reader = ExchangeReader(needed_object(parsed["parts"]))
        return CassetteFile(
            header=Header.from_json(join_lines(parsed["header"])),
            exchanges=tuple(map(reader.take, needed_list(parsed["exchanges"]))),
            claim=needed_object(join_lines(parsed["claim"])),
            record=needed_object(join_lines(parsed["record"])),
            digest=_digest(rest),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{name} is no cassette: {error}", hint=_MENDING) from error


def in_conflict(data: bytes) -> bool:
    """Tell whether a merge has left its markers in a file; no JSON has a line like that."""
    return _MARKER.search(data) is not None


def one_side(folder: str) -> str:
    """Return how to mend a merge of two recordings of one harness: half of each proves nothing."""
    restore = f"git restore --source=MERGE^1 --staged --worktree -- {folder}"
    return f"take one side whole: {restore} (or MERGE^2)"


def one_recording(folder: str) -> str:
    """Return how to mend a set that is mixed of two recordings of one harness."""
    restore = f"git restore --source=HEAD --staged --worktree -- {folder}"
    return f"take one of them whole: {restore}; or record it anew: evalgate run --record --again"


def _set_of(name: str) -> str:
    """Return the folder of all recordings of a harness, in which one lies below its task."""
    return "/".join(name.split("/")[:-2]) or name


def digest_of(data: bytes) -> str:
    """Return the digest that a file of ours closes with."""
    return _text(needed_object(orjson.loads(data))["sha256"])


def _digest(rest: JsonObject) -> str:
    return hashlib.sha256(orjson.dumps(rest)).hexdigest()


def _in_order(value: JsonObject) -> Json:
    """Return a value with sorted members: what is equal is written alike."""
    ordered: Json = orjson.loads(encode(split_lines(value)))
    return ordered


def _encode(rest: JsonObject) -> bytes:
    whole = {**rest, "sha256": _digest(rest)}
    indented = orjson.dumps(whole, option=orjson.OPT_INDENT_2)
    # One space a level: conversations are deep, and strings hold no bare line ends.
    return re.sub(rb"(?m)^( +)\1", rb"\1", indented) + b"\n"


class ExchangeWriter:
    """Turns exchanges into entries, one after the other; the parts they name are collected."""

    def __init__(self) -> None:
        """Begin with none."""
        self._requests = PartsWriter()

    @property
    def parts(self) -> dict[str, list[Json]]:
        """Every piece of the requests so far, by member."""
        return self._requests.parts

    def add(self, exchange: Exchange) -> dict[str, Json]:
        """Return the entry of the next exchange; its key is made anew when it is read."""
        some: dict[str, Json] = {
            "query": exchange.query,
            "asked": split_lines(exchange.asked),
            "cuts": " ".join(f"{size}@{at}" for size, at in exchange.cuts),
        }
        return {
            "dialect": exchange.dialect,
            "method": exchange.method,
            "path": exchange.path,
            "request": self._requests.add(exchange.request),
            "status": exchange.status,
            "headers": split_lines(exchange.headers),
            "reply": split_lines(fold(exchange.body)),
            "ending": str(exchange.ending),
            "began": exchange.began,
            "seconds": exchange.seconds,
            **{name: value for name, value in some.items() if value},
        }


class ExchangeReader:
    """Turns entries back into exchanges."""

    def __init__(self, parts: JsonObject) -> None:
        """Read requests from these parts."""
        self._requests = PartsReader(parts)

    def take(self, value: Json) -> Exchange:
        """Return the next exchange; TypeError, ValueError or LookupError when it is damaged."""
        entry = needed_object(value)
        dialect = _text(entry["dialect"])
        if dialect not in DIALECTS:
            raise ValueError(f"it speaks {dialect!r}, a dialect that is not known here")
        exchange = Exchange(
            dialect=dialect,
            method=_text(entry["method"]),
            path=_text(entry["path"]),
            query=_text(entry.get("query", "")),
            asked=_texts(entry.get("asked", {})),
            request=self._requests.take(needed_object(entry["request"])),
            key="",
            status=int(_number(entry["status"])),
            headers=_texts(entry["headers"]),
            body=unfold(join_lines(entry["reply"])),
            ending=Ending(_text(entry["ending"])),
            began=float(_number(entry["began"])),
            seconds=float(_number(entry["seconds"])),
            cuts=_cuts(_text(entry.get("cuts", ""))),
        )
        return replace(exchange, key=key_again(exchange))


def _texts(value: Json) -> dict[str, str]:
    texts = needed_object(join_lines(value))
    return {name: _text(text) for name, text in texts.items()}


def _cuts(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (pair.partition("@") for pair in text.split())
    return tuple((int(size), int(at)) for size, _, at in pairs)


def _refuse_leaks(cassette: CassetteFile, guard: Redactor) -> None:
    """Look before the text is cut into lines or base64, where a secret could hide."""
    header = cassette.header
    trial = [f"task {header.task} #{header.n}"] if header.task else []
    joined = JoinedTexts()
    seen: set[bytes] = set()
    for number, exchange in enumerate(cassette.exchanges):
        place = ", ".join([*trial, f"exchange {number}"])
        for piece in distinct([exchange.request]):
            if piece.digest not in seen:
                seen.add(piece.digest)
                _refuse(guard.leaks(piece.data), place)
        _refuse(guard.leaks(exchange.request.raw or b""), place)
        _refuse(guard.leaks(exchange.body), place)
        for _, text in joined.of(exchange):
            _refuse(guard.leaks(text), place)
    for value in (header.to_json(), cassette.claim, cassette.record):
        try:
            text = orjson.dumps(value)
        except TypeError as error:
            raise UsageError(f"a cassette can not hold this: {error}") from error
        _refuse(guard.leaks(text), "".join(trial))


def _refuse(leaks: Sequence[str], place: str = "") -> None:
    if leaks:
        found = ", ".join(leaks) + (f" ({place})" if place else "")
        raise UsageError(f"the cassette would hold a secret: {found}", hint=_LEAK)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("a string is missing")
    return value


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number is missing")
    return value

"""Requests in a cassette: every piece stands there once, a turn tells what it adds.

``parts`` holds, for each member, the values it ever had, in order of first use. A request names
the exchange it continues, and of each member that differs from it the number of the value, or,
for a list, how many items are kept and the numbers of those that follow.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from evalgate.core.continuation import continuation_of
from evalgate.core.json import Json, JsonObject
from evalgate.core.request import Member, Piece, StoredRequest
from evalgate.gateway.format.lines import join_lines, join_piece, split_lines, split_piece
from evalgate.gateway.reading import needed_list, needed_object


class PartsWriter:
    """Turns requests into entries of a cassette, one after the other; ``parts`` grows."""

    def __init__(self) -> None:
        """Begin with no parts."""
        self.parts: dict[str, list[Json]] = {}
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._earlier: list[StoredRequest] = []

    def add(self, request: StoredRequest) -> JsonObject:
        """Return the entry of the next request."""
        entry = _dump_raw(request.raw) if request.raw is not None else self._entry(request)
        self._earlier.append(request)
        return entry

    def _entry(self, request: StoredRequest) -> JsonObject:
        told = continuation_of(request, self._earlier)
        members = {
            name: self._told(name, member, told.kept.get(name, 0))
            for name, member in told.added.items()
        }
        return {
            **({} if told.base is None else {"continues": told.base}),
            **({"without": [*told.without]} if told.without else {}),
            "members": members,
        }

    def _told(self, name: str, added: Member, kept: int) -> Json:
        if isinstance(added, Piece):
            return self._number(name, added)
        numbers: list[Json] = [self._number(name, piece) for piece in added]
        return {"add": numbers, **({"keep": kept} if kept else {})}

    def _number(self, name: str, piece: Piece) -> int:
        known = self._numbers.get((name, piece.digest))
        if known is None:
            values = self.parts.setdefault(name, [])
            known = self._numbers[name, piece.digest] = len(values)
            values.append(split_piece(piece.data))
        return known


class PartsReader:
    """Turns entries back into requests; equal pieces are one object."""

    def __init__(self, parts: JsonObject) -> None:
        """Read from the ``parts`` of a cassette. TypeError when they are none."""
        self._pieces = {
            name: [Piece.of(join_piece(value)) for value in needed_list(values)]
            for name, values in parts.items()
        }
        self._earlier: list[StoredRequest] = []

    def take(self, entry: JsonObject) -> StoredRequest:
        """Return the next request; TypeError, ValueError or LookupError when it can not be."""
        request = self._read(entry)
        self._earlier.append(request)
        return request

    def _read(self, entry: JsonObject) -> StoredRequest:
        if "members" not in entry:
            return StoredRequest(raw=_load_raw(entry))
        members: dict[str, Member] = {}
        if "continues" in entry:
            members |= self._earlier[_index(entry["continues"])].members
        for name in needed_list(entry.get("without", [])):
            del members[str(name)]
        for name, told in needed_object(entry["members"]).items():
            members[name] = self._member(name, told, members.get(name))
        return StoredRequest(members=members)

    def _member(self, name: str, told: Json, old: Member | None) -> Member:
        if not isinstance(told, Mapping):
            return self._pieces[name][_index(told)]
        kept = old[: _index(told.get("keep", 0))] if isinstance(old, tuple) else ()
        added = (self._pieces[name][_index(one)] for one in needed_list(told["add"]))
        return (*kept, *added)


def _dump_raw(raw: bytes) -> JsonObject:
    try:
        return {"raw": split_lines(raw.decode())}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _load_raw(entry: JsonObject) -> bytes:
    value = join_lines(entry["raw"] if "raw" in entry else entry["base64"])
    if not isinstance(value, str):
        raise TypeError("a body is missing")
    if "raw" in entry:
        return value.encode()
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _index(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("a number is missing")
    return value

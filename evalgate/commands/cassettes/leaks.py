"""Secrets in stored files: in the bytes, in base64, and in the joined pieces of a stream."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from evalgate.core.json import Json
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.format.joined import JoinedTexts, joined_in
from evalgate.gateway.format.lines import join_lines

#: Shorter runs of base64 hold no key.
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")


#: How a string begins that may be the body of a reply.
_REPLIES: Final = (b"data:", b"event:", b"[", b"{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A secret that was found; what it says is shown nowhere.

    ``kind`` is the name of a variable or of a provider's pattern, ``path`` the JSON path,
    ``exchange`` its number in a cassette, ``form`` how it stands there: plain, base64, or joined
    (cut into the pieces of a stream).
    """

    file: str
    kind: str
    path: str = ""
    exchange: int | None = None
    form: str = "plain"

    def to_json(self) -> dict[str, Json]:
        """Return the leak for a program."""
        return {
            "file": self.file,
            "exchange": self.exchange,
            "kind": self.kind,
            "path": self.path,
            "form": self.form,
        }

    @property
    def line(self) -> str:
        """One line for a person."""
        exchange = "" if self.exchange is None else f" exchange {self.exchange}"
        form = "" if self.form == "plain" else f" ({self.form})"
        return f"{self.file}:{exchange} {self.path or 'bytes'}: {self.kind}{form}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What looking through one file came to; ``unreadable`` says why it is no cassette."""

    leaks: tuple[Leak, ...]
    unreadable: str = ""


def scan_file(data: bytes, *, name: str, redactor: Redactor, cassette: bool) -> Scanned:
    """Look through a file; one that should be a cassette and is none is looked at as bytes."""
    seeker = _Seeker(redactor, Leak(file=redactor.text(name), kind=""))
    unreadable = ""
    if cassette:
        try:
            seeker.tape(load_cassette(data, name=name))
        except UsageError as error:
            unreadable = error.message
    if unreadable or not cassette:
        seeker.value("", _parsed(data))
        seeker.joined("", data)
    by_path = {leak.kind for leak in seeker.found if leak.path}
    seeker.raw("", data)
    found = [leak for leak in seeker.found if leak.path or leak.kind not in by_path]
    return Scanned(leaks=tuple(found), unreadable=unreadable)


def _parsed(data: bytes) -> Json:
    try:
        return join_lines(orjson.loads(data))
    except (orjson.JSONDecodeError, RecursionError):
        return None


class _Seeker:
    """Looks into values and collects what it finds; ``place`` is where it is now."""

    def __init__(self, redactor: Redactor, place: Leak) -> None:
        self.found: list[Leak] = []
        self._redactor = redactor
        self._place = place
        self._seen: set[bytes] = set()

    def tape(self, tape: CassetteFile) -> None:
        """Look into a cassette: each piece where it is sent for the first time."""
        whole = {"header": tape.header.to_json(), "claim": tape.claim, "record": tape.record}
        for name, value in whole.items():
            self.value(name, value)
        here, joined = self._place, JoinedTexts()
        for number, exchange in enumerate(tape.exchanges):
            self._place = replace(here, exchange=number)
            self.value("path", exchange.path)
            self.value("query", exchange.query)
            self.value("headers", dict(exchange.asked))
            if exchange.request.raw is not None:
                self.raw("request", exchange.request.raw)
            for name, member in exchange.request.members.items():
                self.value("request", {name: None})
                pieces = (member,) if isinstance(member, Piece) else member
                for index, piece in enumerate(pieces):
                    place = f"request.{name}" + ("" if member is piece else f"[{index}]")
                    if piece.digest not in self._seen:
                        self._seen.add(piece.digest)
                        self.value(place, orjson.loads(piece.data))
            self.value("reply.headers", dict(exchange.headers))
            self.body("reply", exchange.body)
            for place, text in joined.of(exchange):
                self.raw(place, text, form="joined")
        self._place = here

    def body(self, path: str, body: bytes) -> None:
        """Look into a reply: as JSON, or as bytes."""
        if (value := _parsed(body)) is not None:
            self.value(path, value)
        else:
            self.raw(path, body)

    def value(self, path: str, value: Json) -> None:
        """Look into every string of a value, and into the names of members."""
        waiting: list[tuple[str, Json]] = [(path, value)]
        while waiting:
            at, one = waiting.pop()
            if isinstance(one, str):
                self._text(at, one)
            elif isinstance(one, Mapping):
                for name, inner in one.items():
                    self._note(f"{at} (a name)", name.encode("utf-8", "surrogatepass"))
                    waiting.append((f"{at}.{name}" if at else str(name), inner))
            elif isinstance(one, Sequence):
                waiting += [(f"{at}[{index}]", inner) for index, inner in enumerate(one)]

    def raw(self, path: str, data: bytes, *, form: str = "plain") -> None:
        """Look into bytes, and into what is base64 in them."""
        self._note(path, data, form=form)
        for decoded in _decoded(data):
            self._note(path, decoded, form="base64")

    def joined(self, path: str, data: bytes) -> None:
        """Look into the texts that the pieces and blocks of a body make together."""
        for text in joined_in(data):
            self.raw(path, text, form="joined")

    def _text(self, path: str, text: str) -> None:
        """Look into a string; it may be a reply that another tool has kept."""
        data = text.encode("utf-8", "surrogatepass")
        self.raw(path, data)
        if data.startswith(_REPLIES):
            self.joined(path, data)

    def _note(self, path: str, data: bytes, *, form: str = "plain") -> None:
        for kind in self._redactor.leaks(data):
            place = self._redactor.text(path)
            leak = replace(self._place, path=place, kind=kind, form=form)
            told = {(one.exchange, one.path, one.kind) for one in self.found}
            if (leak.exchange, leak.path, leak.kind) not in told:
                self.found.append(leak)


def _decoded(data: bytes) -> Iterator[bytes]:
    """Yield what the runs of base64 hold, in either alphabet, with and without padding."""
    for match in _BASE64.finditer(data):
        run = match.group().rstrip(b"=")
        for alphabet in (run, run.translate(bytes.maketrans(b"-_", b"+/"))):
            try:
                yield base64.b64decode(alphabet[: len(alphabet) // 4 * 4], validate=True)
            except binascii.Error:
                continue
            break

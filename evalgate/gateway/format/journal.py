"""What a recording holds before it is sealed: a file that a killed process leaves behind.

One line of JSON an exchange, on the disk before the next line is begun. Writing has a thread of
its own: the disk keeps no agent waiting. A last line that was cut is what the process died in.
Each line ends with a digest of itself and of all lines before it, so that no other damage goes
unseen.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson

from evalgate.core.exchange import Exchange
from evalgate.core.json import Json, JsonObject
from evalgate.core.redaction import Redactor
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.format.cassette_format import (
    FORMAT,
    CassetteFile,
    ExchangeReader,
    ExchangeWriter,
)
from evalgate.gateway.format.header import Header
from evalgate.gateway.reading import needed_list, needed_object

_KIND: Final = "evalgate journal"
_HINT: Final = "delete the file: what it holds is recorded anew"


class Journal:
    """Takes exchanges from any thread; made by `open_journal`.

    ``trouble`` is what keeps it from writing, None while nothing does; what came before is kept.
    """

    def __init__(self, path: Path, header: Header, redactor: Redactor) -> None:
        """Write to a file that does not exist yet, or is written anew.

        NotAvailableError when it can not be written.
        """
        self.trouble: NotAvailableError | None = None
        self._path = path
        self._redactor = redactor
        self._writer = ExchangeWriter()
        self._written: dict[str, int] = {}
        self._chain = _Chain()
        self._queue: queue.SimpleQueue[tuple[int, Exchange] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="evalgate-journal", daemon=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._in_words(error) from error
        try:
            self._put({"kind": _KIND, "format": FORMAT, "header": header.to_json()})
        except OSError as error:
            self._file.close()
            raise self._in_words(error) from error
        self._thread.start()

    def append(self, slot: int, exchange: Exchange) -> None:
        """Keep an exchange that has ended, in place of what was kept of ``slot`` before.

        Returns at once.
        """
        self._queue.put((slot, exchange))

    def close(self) -> None:
        """Write what is left, and end."""
        self._queue.put(None)
        self._thread.join()
        self._file.close()

    def discard(self) -> None:
        """End, and remove the file: what it held is kept elsewhere."""
        self.close()
        self._path.unlink(missing_ok=True)
        self.trouble = None

    def _write(self) -> None:
        try:
            while (kept := self._queue.get()) is not None:
                line = self._entry(*kept)
                if self._redactor.leaks(orjson.dumps(line)):
                    # The recording will be refused when it is sealed; nothing more is kept.
                    return
                self._put(line)
        except OSError as error:
            self.trouble = self._in_words(error)

    def _put(self, value: JsonObject) -> None:
        line = memoryview(self._chain.link(orjson.dumps(value)))
        while line:  # a disk that fills up takes a part of it first
            line = line[self._file.write(line) :]
        os.fsync(self._file.fileno())

    def _in_words(self, error: OSError) -> NotAvailableError:
        message = f"{self._path}: the journal can not be written: {error.strerror or error}"
        hint = "is there room left? Then the same command goes on where this stopped"
        return NotAvailableError(message, hint=hint)

    def _entry(self, slot: int, exchange: Exchange) -> dict[str, Json]:
        entry = self._writer.add(exchange)
        parts = self._writer.parts
        fresh: dict[str, Json] = {
            name: values[self._written.get(name, 0) :]
            for name, values in parts.items()
            if len(values) > self._written.get(name, 0)
        }
        self._written = {name: len(values) for name, values in parts.items()}
        return {"slot": slot, "parts": fresh, "exchange": entry}


@contextmanager
def open_journal(path: Path, *, header: Header, redactor: Redactor) -> Iterator[Journal]:
    """Write a journal while the context lasts; the file stays until somebody removes it.

    ``header`` holds what a cassette's would of places and scrubs. NotAvailableError, also at the
    end, when not all of it could be written.
    """
    journal = Journal(path, header, redactor)
    try:
        yield journal
    finally:
        journal.close()
    if journal.trouble is not None:
        raise journal.trouble


def load_journal(data: bytes, *, name: str) -> CassetteFile:
    """Return the exchanges that were written whole, in the order they were asked in.

    It is a cassette without a claim.

    UsageError naming the file when it is no journal, or was changed before its last line.
    """
    lines = data.split(b"\n")
    whole, cut = lines[:-1], lines[-1]
    chain = _Chain()
    try:
        if not whole and cut:
            return _cassette(Header(), ())
        parsed = [needed_object(orjson.loads(chain.unlink(line))) for line in whole]
        if not parsed or parsed[0].get("kind") != _KIND or parsed[0].get("format") != FORMAT:
            message = f"{name} is no journal of this evalgate"
            raise UsageError(message, hint=_HINT)
        return _cassette(Header.from_json(parsed[0]["header"]), _exchanges(parsed[1:]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{name} is damaged: {error}", hint=_HINT) from error


class _Chain:
    """Gives each line a last member: the digest of the line and of all before it."""

    _START: Final = b',"chain":"'
    _TAIL: Final = len(_START) + 64 + len(b'"}')

    def __init__(self) -> None:
        self._digest = hashlib.sha256(_KIND.encode())

    def link(self, text: bytes) -> bytes:
        """Return the line of a JSON object that has members."""
        return text[:-1] + self._next(text) + b"\n"

    def unlink(self, line: bytes) -> bytes:
        """Return the object of a line; ValueError when it is not what was written there."""
        text = line[: -self._TAIL] + b"}"
        if self._next(text) != line[-self._TAIL :]:
            raise ValueError("a line was changed, added or removed")
        return text

    def _next(self, text: bytes) -> bytes:
        self._digest.update(text + b"\n")
        return self._START + self._digest.hexdigest().encode() + b'"}'


def _cassette(header: Header, exchanges: tuple[Exchange, ...]) -> CassetteFile:
    return CassetteFile(header=header, exchanges=exchanges, claim={}, record={})


def _exchanges(lines: Sequence[JsonObject]) -> tuple[Exchange, ...]:
    parts: dict[str, list[Json]] = {}
    for line in lines:
        for member, values in needed_object(line["parts"]).items():
            parts.setdefault(member, []).extend(needed_list(values))
    reader = ExchangeReader(parts)
    by_slot = {line["slot"]: reader.take(line["exchange"]) for line in lines}
    # In order of asking: equal requests are answered in the order they were made.
    return tuple(by_slot[slot] for slot in sorted(by_slot, key=_slot))


def _slot(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError("a slot is missing")
    return value

"""What a recording holds before it is sealed: a file that a killed process leaves behind.

One line of JSON an exchange, on the disk before the next line is begun. Writing has a thread of
its own: the disk keeps no agent waiting. A last line that was cut is what the process died in.
"""

from __future__ import annotations

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
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import (
    FORMAT,
    CassetteFile,
    ExchangeReader,
    ExchangeWriter,
)
from evalgate.gateway.reading import needed_list, needed_object

_KIND: Final = "evalgate journal"
_HINT: Final = "delete the file: what it holds is recorded anew"


class Journal:
    """Takes exchanges from any thread; made by `open_journal`."""

    def __init__(self, path: Path, header: JsonObject, redactor: Redactor) -> None:
        """Write to a file that does not exist yet, or is written anew."""
        self._path = path
        self._header = header
        self._redactor = redactor
        self._writer = ExchangeWriter()
        self._written: dict[str, int] = {}
        self._queue: queue.SimpleQueue[tuple[int, Exchange] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="evalgate-journal", daemon=True)

    def append(self, slot: int, exchange: Exchange) -> None:
        """Keep an exchange that has ended, in place of what was kept of ``slot`` before.

        Returns at once.
        """
        self._queue.put((slot, exchange))

    def start(self) -> None:
        """Begin to write."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def close(self) -> None:
        """Write what is left, and end."""
        self._queue.put(None)
        self._thread.join()

    def discard(self) -> None:
        """End, and remove the file: what it held is kept elsewhere."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        with self._path.open("wb") as file:
            _line(file.fileno(), {"kind": _KIND, "format": FORMAT, "header": self._header})
            while (kept := self._queue.get()) is not None:
                line = self._entry(*kept)
                if self._redactor.leaks(orjson.dumps(line)):
                    # The recording will be refused when it is sealed; nothing more is kept.
                    return
                _line(file.fileno(), line)

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
def open_journal(path: Path, *, header: JsonObject, redactor: Redactor) -> Iterator[Journal]:
    """Write a journal while the context lasts; the file stays until somebody removes it.

    ``header`` holds what a cassette's would of places and scrubs.
    """
    journal = Journal(path, header, redactor)
    journal.start()
    try:
        yield journal
    finally:
        journal.close()


def load_journal(data: bytes, *, name: str) -> CassetteFile:
    """Return the exchanges that were written whole, in the order they were asked in.

    It is a cassette without a claim.

    UsageError naming the file when it is no journal, or damaged before its last line.
    """
    lines = data.split(b"\n")
    whole, cut = lines[:-1], lines[-1]
    try:
        parsed = [needed_object(orjson.loads(line)) for line in whole]
        if not parsed and cut:
            return _cassette({}, ())
        if not parsed or parsed[0].get("kind") != _KIND or parsed[0].get("format") != FORMAT:
            message = f"{name} is no journal of this evalgate"
            raise UsageError(message, hint=_HINT)
        return _cassette(needed_object(parsed[0]["header"]), _exchanges(parsed[1:]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{name} is damaged: {error}", hint=_HINT) from error


def _cassette(header: JsonObject, exchanges: tuple[Exchange, ...]) -> CassetteFile:
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


def _line(file: int, value: dict[str, Json]) -> None:
    os.write(file, orjson.dumps(value) + b"\n")
    os.fsync(file)

"""What a process asks its model while it is recorded: kept as it ends, sealed as a cassette."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.scrubs import Scrub
from evalgate.disk import write_whole
from evalgate.errors import UsageError, from_os_error
from evalgate.gateway.capture import clean_body
from evalgate.gateway.format.cassette_format import CassetteFile, dump_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import Journal, open_journal
from evalgate.gateway.in_process.asked import Asked, keyed
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.keys.rescrubbing import scrubbed_by
from evalgate.gateway.upstream import returned

#: What a header says of who recorded; that of a trial says nothing.
RECORDER: Final = "evalgate.vcr"


class Recorder:
    """Takes exchanges from any thread; made by `open_recorder`."""

    def __init__(
        self,
        file: Path,
        journal: Journal,
        cleaner: Cleaner,
        redactor: Redactor,
        *,
        places: Mapping[str, str],
        scrubs: Sequence[Scrub],
    ) -> None:
        """Keep in the journal, and seal into the file."""
        self._file = file
        self._journal = journal
        self._cleaner = cleaner
        self._keying = Keying(cleaner)
        self._redactor = redactor
        self._places = places
        self._scrubs = scrubs
        self._opened = time.monotonic()
        self._lock = threading.Lock()
        self._asked: WeakKeyDictionary[Asked, tuple[int, float]] = WeakKeyDictionary()
        self._slots = 0
        self._kept: dict[int, Exchange] = {}

    def ask(self, request: Asked) -> None:
        """Note when a request begins, and which one in order it is."""
        with self._lock:
            self._begun(request)

    def keep(self, request: Asked, response: Mapping[str, Any]) -> None:
        """Keep a request and its response, which is in VCR.py's form and not compressed."""
        ended = time.monotonic()
        whole = response["body"].get("string", b"")
        pairs = [
            (name, value)
            for name, values in response["headers"].items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        with self._lock:
            slot, began = self._begun(request)
            redactor = self._redactor
            exchange = keyed(request, self._keying).answered(
                status=int(response["status"]["code"]),
                headers={name: redactor.text(value) for name, value in returned(pairs).items()},
                body=clean_body(whole if isinstance(whole, bytes) else whole.encode(), redactor),
                began=round(began - self._opened, 6),
            )
            exchange = replace(exchange, seconds=round(ended - began, 3))
            self._store(slot, exchange)

    def leave(self, request: Asked) -> None:
        """Keep that nobody waits any more for the response to a request."""
        ended = time.monotonic()
        with self._lock:
            slot, began = self._begun(request)
            if slot in self._kept:
                return
            exchange = keyed(request, self._keying).answered(
                status=0, headers={}, body=b"", began=round(began - self._opened, 6)
            )
            seconds = round(ended - began, 3)
            self._store(slot, replace(exchange, ending=Ending.CLIENT_GONE, seconds=seconds))

    def _store(self, slot: int, exchange: Exchange) -> None:
        self._kept[slot] = exchange
        self._journal.append(slot, exchange)

    def seal(self) -> None:
        """Write the cassette, in the order of asking, and remove the journal.

        UsageError when it would hold a secret, or the file can not be written.
        """
        with self._lock:
            exchanges = tuple(self._kept[slot] for slot in sorted(self._kept))
            header = Header(
                recorder=RECORDER,
                recorded=datetime.now(UTC).date().isoformat(),
                places=self._places,
                scrubs=scrubbed_by(self._scrubs, self._cleaner.hits),
            )
        whole = CassetteFile(header=header, exchanges=exchanges, claim={}, record={})
        data = dump_cassette(whole, redactor=self._redactor)
        try:
            write_whole(_target(self._file), data)
        except OSError as error:
            raise from_os_error(error) from error
        self._journal.discard()

    def _begun(self, request: Asked) -> tuple[int, float]:
        known = self._asked.get(request)
        if known is None:
            known = self._asked[request] = (self._slots, time.monotonic())
            self._slots += 1
        return known


@contextmanager
def open_recorder(
    file: Path,
    cleaner: Cleaner,
    redactor: Redactor,
    *,
    places: Mapping[str, str],
    scrubs: Sequence[Scrub],
) -> Iterator[Recorder]:
    """Record into a file that need not exist; the journal beside it stays unless it is sealed.

    UsageError when nothing can be written there.
    """
    journal = _journal(file)
    header = Header(recorder=RECORDER, places=places, scrubs=scrubbed_by(scrubs))
    with open_journal(journal, header=header, redactor=redactor) as opened:
        yield Recorder(file, opened, cleaner, redactor, places=places, scrubs=scrubs)


def _target(file: Path) -> Path:
    """Return the file itself: a link stays one. OSError when links lead round in a circle."""
    target = Path(os.path.realpath(file))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _journal(file: Path) -> Path:
    """Return the place of the journal, which was emptied: both files can be written."""
    journal = file.with_name(f"{file.name}.journal")
    try:
        target = _target(file)
        for folder in (file.parent, target.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        journal.write_bytes(b"")
    except OSError as error:
        message = f"{file}: no cassette can be recorded there: {error.strerror}"
        raise UsageError(message, hint="name a file in a folder that you may write to") from error
    return journal

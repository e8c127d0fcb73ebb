"""Cassettes for agents that call their model inside a process of their own choosing.

A program that can not be given a base URL (boto3, the SDK of a vendor) is recorded and replayed
by VCR.py's own patches of the HTTP libraries, with our keys, our redaction and our file format.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import Final

from evalgate.core.redaction import Redactor, known_secrets
from evalgate.core.scrubs import Scrub
from evalgate.errors import DivergedError, UsageError
from evalgate.gateway.format.cassette_format import load_cassette
from evalgate.gateway.in_process.player import Player
from evalgate.gateway.in_process.recorder import open_recorder
from evalgate.gateway.keys.cleaning import USUAL, Cleaner
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.keys.rescrubbing import rescrubbed

#: The contexts of this process that are open, the innermost last; and that one of a thread or task.
_LOCK: Final = threading.Lock()
_OPEN: Final[list[object]] = []
_WITHIN: Final[ContextVar[object | None]] = ContextVar("evalgate_cassette", default=None)


class Use(StrEnum):
    """Whether the real provider answers and is recorded, or the cassette answers, or neither."""

    RECORD = "record"
    REPLAY = "replay"
    LIVE = "live"


@contextmanager
def use_cassette(
    path: str | os.PathLike[str],
    *,
    mode: str = Use.REPLAY,
    secrets: Mapping[str, str] | None = None,
    places: Mapping[str, str] | None = None,
    scrubs: Sequence[Scrub] = USUAL,
) -> Iterator[None]:
    """Record the model traffic of this process into a cassette, or replay it.

    Threads and tasks may ask at the same time inside of one context. The whole process is
    patched, so a second context can only be opened inside of the first one, by who opened that:
    UsageError for another thread or task.

    ``mode`` is ``record``, ``replay`` (strict: no HTTP client reaches the
    network) or ``live`` (nothing
    is done). ``secrets`` are values by name that must not be stored, beside those of the
    environment; ``places`` are paths of this machine by label. A request that was not recorded
    raises DivergedError inside the client and, should that swallow it, when the context ends.

    While it records, what was answered is kept in ``PATH.journal``. The cassette is written, and
    the journal removed, when the block ends well; else a cassette that was there is left alone.
    UsageError before anything is asked when the path can not be read, or written.
    """
    chosen = _mode(mode)
    if chosen is Use.LIVE:
        yield
        return
    file, here = Path(path), _texts("places", places)
    redactor = Redactor({**known_secrets(os.environ), **_texts("secrets", secrets)})
    cleaner = Cleaner(redactor=redactor, places=here, scrubs=scrubs)
    with _innermost():
        if chosen is Use.REPLAY:
            with _replayed(_player(file, Keying(cleaner), here, scrubs)):
                yield
        else:
            with _recorded(file, cleaner, redactor, here, scrubs):
                yield


def _mode(mode: str) -> Use:
    try:
        return Use(mode)
    except ValueError:
        message = f"evalgate.vcr: there is no mode {mode!r}"
        raise UsageError(message, hint=f"one of {', '.join(Use)}") from None


def _texts(name: str, given: Mapping[str, str] | None) -> dict[str, str]:
    texts = dict(given or {})
    for label, value in texts.items():
        if not isinstance(label, str) or not isinstance(value, str):
            # Not the value itself: it may be a secret.
            message = f"evalgate.vcr: {name}: {label!r} is a {type(value).__name__}"
            raise UsageError(message, hint=f"{name} are texts by name")
    return texts


@contextmanager
def _innermost() -> Iterator[None]:
    """Hold the process: patches that are laid over one another come off in the other order."""
    outer, mine = _WITHIN.get(), object()
    with _LOCK:
        if _OPEN and _OPEN[-1] is not outer:
            message = "evalgate.vcr: another thread or task of this process has a cassette open"
            raise UsageError(message, hint="open one cassette around all that ask")
        _OPEN.append(mine)
    _WITHIN.set(mine)
    try:
        yield
    finally:
        _WITHIN.set(outer)
        with _LOCK:
            _OPEN.remove(mine)


def _player(file: Path, keying: Keying, here: Mapping[str, str], scrubs: Sequence[Scrub]) -> Player:
    try:
        data = file.read_bytes()
    except OSError as error:
        message = f"{file}: no cassette to replay: {error.strerror}"
        raise UsageError(message, hint='record it with mode="record"') from error
    read = load_cassette(data, name=str(file))
    tape = rescrubbed(read.exchanges, read.header.rules, scrubs)
    return Player(tape=tape, keying=keying, recorded=read.header.places, here=here)


@contextmanager
def _replayed(player: Player) -> Iterator[None]:
    from evalgate.gateway.in_process.guard import guarded  # noqa: PLC0415 - it loads VCR.py
    from evalgate.gateway.in_process.patches import replaying  # noqa: PLC0415

    with replaying(player), guarded(player.refuse):
        yield
    if player.refused:
        first = player.refused[0]
        raise DivergedError(first.message, hint=first.hint)


@contextmanager
def _recorded(
    file: Path,
    cleaner: Cleaner,
    redactor: Redactor,
    here: Mapping[str, str],
    scrubs: Sequence[Scrub],
) -> Iterator[None]:
    from evalgate.gateway.in_process.guard import unguarded  # noqa: PLC0415 - it loads VCR.py
    from evalgate.gateway.in_process.patches import recording  # noqa: PLC0415

    with open_recorder(file, cleaner, redactor, places=here, scrubs=scrubs) as recorder:
        with recording(recorder), unguarded():
            yield
        recorder.seal()

"""The one door to VCR.py: its cassette keeps the order, counts what is played, saves and loads.

VCR.py is used through its public classes and patches nothing: our gateway speaks HTTP itself.
One matcher compares a key made beforehand; persisters of our own take the place of its file
formats. It is imported when the first tape is opened.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.errors import UsageError
from evalgate.gateway.cassette_format import (
    FORMAT,
    CassetteFile,
    digest_of,
    dump_cassette,
    load_cassette,
)
from evalgate.gateway.matching import key_of

if TYPE_CHECKING:
    from vcr.cassette import Cassette
    from vcr.request import Request

__all__ = [
    "FORMAT",
    "CassetteFile",
    "RecordingTape",
    "ReplayTape",
    "dump_cassette",
    "load_cassette",
    "open_recording",
    "open_replay",
]

_KEY: Final = "x-evalgate-key"
_MATCHER: Final = "evalgate_key"
_META: Final = "evalgate"


class RecordingTape:
    """Takes exchanges one after the other; the file is written when its context ends.

    ``digest`` is that of the written file, and empty before.
    """

    def __init__(self, cassette: Cassette) -> None:
        """Write through an open cassette of VCR.py."""
        self._cassette = cassette
        self.digest = ""

    def append(self, exchange: Exchange) -> None:
        """Add an exchange."""
        self._cassette.append(_to_request(exchange), _to_response(exchange))


class ReplayTape:
    """Gives each recorded exchange once: those of equal key in the order they were recorded."""

    def __init__(self, cassette: Cassette, exchanges: Sequence[Exchange]) -> None:
        """Play from a loaded cassette of VCR.py."""
        self._cassette = cassette
        self.exchanges = tuple(exchanges)
        self._played: set[int] = set()

    def play(self, key: str) -> Exchange | None:
        """Return the next exchange of this key, or None when there is none left."""
        # One call that finds and marks at once: asking first whether it can be played would
        # look through the tape twice. VCR.py has no lock; the loop that calls this is one thread.
        try:
            response = self._cassette.play_response(_request("POST", "/", key, None))
        except KeyError:
            return None
        index = int(response["index"])
        self._played.add(index)
        return self.exchanges[index]

    def play_next(self) -> Exchange | None:
        """Return the earliest exchange that was not played, whatever its key."""
        left = (one for index, one in enumerate(self.exchanges) if index not in self._played)
        first = next(left, None)
        return None if first is None else self.play(first.key)

    @property
    def played(self) -> frozenset[int]:
        """The indexes of the exchanges that were played."""
        return frozenset(self._played)

    @property
    def unused(self) -> int:
        """How many recorded exchanges were not played."""
        return len(self._cassette) - int(self._cassette.play_count)


@contextmanager
def open_recording(
    path: Path, *, cassette: CassetteFile, redactor: Redactor
) -> Iterator[RecordingTape]:
    """Record into a new file; header, claim and record are those of ``cassette``.

    The file appears whole when the context ends without an error, and takes the place of one
    that was there. UsageError when it would hold a secret.
    """
    writer = _Writer(redactor)
    engine = _vcr(writer)
    with engine.use_cassette(path, record_mode="all", record_on_exception=False) as tape:
        tape.get_metadata(_META, cassette)
        recording = RecordingTape(tape)
        for exchange in cassette.exchanges:
            recording.append(exchange)
        yield recording
    recording.digest = writer.digest


@contextmanager
def open_replay(cassette: CassetteFile) -> Iterator[ReplayTape]:
    """Replay a cassette that was read; keys are made anew, so old ones of another version fit."""
    exchanges = [
        replace(one, key=key_of(one.method, one.path, one.request)) for one in cassette.exchanges
    ]
    reader = _Reader(exchanges)
    with _vcr(reader).use_cassette(cassette.digest or "tape", record_mode="none") as tape:
        yield ReplayTape(tape, exchanges)


@dataclass(slots=True)
class _Writer:
    """A persister that starts empty and writes the file in one step."""

    redactor: Redactor
    digest: str = ""

    def load_cassette(self, path: str, serializer: object) -> None:  # noqa: ARG002 - VCR's shape
        from vcr.persisters.filesystem import (  # noqa: PLC0415
            CassetteNotFoundError,
        )

        raise CassetteNotFoundError(path)

    def save_cassette(self, path: str, recorded: Mapping[str, Any], serializer: object) -> None:  # noqa: ARG002
        pairs = zip(recorded["requests"], recorded["responses"], strict=True)
        frame: CassetteFile = recorded["metadata"][_META]
        whole = replace(frame, exchanges=tuple(_to_exchange(*pair) for pair in pairs))
        data = dump_cassette(whole, redactor=self.redactor)
        _write_whole(Path(path), data)
        self.digest = digest_of(data)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A persister that hands over what `load_cassette` read, and never writes.

    Reading a file happens before and outside VCR.py: it takes errors of its own two classes
    for an empty cassette, and an empty cassette would make every request a miss.
    """

    exchanges: Sequence[Exchange]

    def load_cassette(self, path: str, serializer: object) -> tuple[list[Request], list[object]]:  # noqa: ARG002
        requests = [_to_request(exchange) for exchange in self.exchanges]
        return requests, [{**_EMPTY, "index": index} for index in range(len(requests))]

    def save_cassette(self, path: str, recorded: object, serializer: object) -> None:  # noqa: ARG002
        raise UsageError(f"{path} is a replay and is not written")


_EMPTY: Final[Mapping[str, object]] = {
    "status": {"code": 200, "message": ""},
    "headers": {},
    "body": {"string": b""},
}


def _vcr(persister: _Writer | _Reader) -> Any:
    import vcr  # noqa: PLC0415
    from vcr.patch import PATCHER_NAMES  # noqa: PLC0415

    engine = vcr.VCR(skip_patchers=PATCHER_NAMES, match_on=(_MATCHER,))
    engine.register_matcher(_MATCHER, _same_key)
    engine.register_persister(persister)
    return engine


def _same_key(one: Request, other: Request) -> bool:
    return bool(one.headers[_KEY] == other.headers[_KEY])


def _request(method: str, path: str, key: str, body: bytes | None) -> Request:
    from vcr.request import Request  # noqa: PLC0415

    return Request(method, f"http://model{path}", body, {_KEY: key})


def _to_request(exchange: Exchange) -> Request:
    return _request(exchange.method, exchange.path, exchange.key, exchange.request)


def _to_response(exchange: Exchange) -> dict[str, object]:
    return {
        "status": {"code": exchange.status, "message": ""},
        "headers": {name: [value] for name, value in exchange.headers.items()},
        "body": {"string": exchange.body},
        "dialect": exchange.dialect,
        "path": exchange.path,
        "ending": str(exchange.ending),
        "began": exchange.began,
        "seconds": exchange.seconds,
    }


def _to_exchange(request: Request, response: Mapping[str, Any]) -> Exchange:
    return Exchange(
        dialect=response["dialect"],
        method=request.method,
        path=response["path"],
        request=request.body,
        key=request.headers[_KEY],
        status=response["status"]["code"],
        headers={name: values[0] for name, values in response["headers"].items()},
        body=response["body"]["string"],
        ending=Ending(response["ending"]),
        began=response["began"],
        seconds=response["seconds"],
    )


def _write_whole(path: Path, data: bytes) -> None:
    """Write beside the file and rename: a reader sees the old file or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise

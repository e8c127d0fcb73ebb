"""The one door to VCR.py: its cassette keeps the order, counts what is played, saves and loads.

VCR.py is used through its public classes and patches nothing: our gateway speaks HTTP itself.
One matcher compares a key made beforehand; persisters of our own take the place of its file
formats. It is imported when the first tape is opened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.scrubs import Scrub
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import (
    FORMAT,
    CassetteFile,
    digest_of,
    dump_cassette,
    load_cassette,
)
from evalgate.gateway.keys.cleaning import USUAL
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.keys.rescrubbing import rescrubbed

if TYPE_CHECKING:
    from vcr.cassette import Cassette
    from vcr.request import Request

__all__ = [
    "FORMAT",
    "CassetteFile",
    "ReplayTape",
    "dump_cassette",
    "load_cassette",
    "open_replay",
    "write_recording",
]

_MATCHER: Final = "evalgate_key"
_META: Final = "evalgate"


class ReplayTape:
    """Gives each recorded exchange once: those of equal key in the order they were recorded."""

    def __init__(self, cassette: Cassette, exchanges: Sequence[Exchange]) -> None:
        """Play from a loaded cassette of VCR.py."""
        self._cassette = cassette
        self.exchanges = tuple(exchanges)
        self._left: dict[str, deque[int]] = {}
        for index, one in enumerate(self.exchanges):
            self._left.setdefault(one.key, deque()).append(index)
        self._indexes = {id(one): index for index, one in enumerate(self.exchanges)}

    def play(self, key: str) -> Exchange | None:
        """Return the next exchange of this key, or None when there is none left."""
        # VCR.py would look through the whole tape for each request; it keeps the count.
        index = next(iter(self._left.get(key, ())), None)
        if index is None:
            return None
        self._left[key].popleft()
        self._cassette.play_counts[index] += 1
        return self.exchanges[index]

    def index_of(self, exchange: Exchange) -> int:
        """Return the place of an exchange that was played: of this very object."""
        return self._indexes[id(exchange)]

    def peek(self, key: str) -> Exchange | None:
        """Return what `play` would, and leave it to be played."""
        index = next(iter(self._left.get(key, ())), None)
        return None if index is None else self.exchanges[index]

    def play_like(self, request: Keyed, conversation: str) -> Exchange | None:
        """Return the exchange at the place of a request that another harness made.

        The same request, else the next of the same ``conversation`` (the name of that member)
        on the same path, else the next one: tools and prompts of another harness differ in all.
        """
        played = self.played
        left = [one for index, one in enumerate(self.exchanges) if index not in played]
        said = request.request.members.get(conversation)
        here = [one for one in left if one.path == request.path]
        same = [one for one in here if one.key == request.key]
        same += [one for one in here if said and one.request.members.get(conversation) == said]
        first = next(iter(same or here or left), None)
        return None if first is None else self.play(first.key)

    @property
    def played(self) -> frozenset[int]:
        """The indexes of the exchanges that were played."""
        counts = self._cassette.play_counts
        return frozenset(index for index, count in counts.items() if count)

    def left(self, first: int) -> list[Exchange]:
        """Return what was not played of the exchanges from the place ``first`` on."""
        played = self.played
        pairs = enumerate(self.exchanges[first:], first)
        return [one for place, one in pairs if place not in played]

    @property
    def unused(self) -> int:
        """How many recorded exchanges were not played."""
        return len(self._cassette) - int(self._cassette.play_count)


def write_recording(path: Path, *, cassette: CassetteFile, redactor: Redactor) -> str:
    """Write a whole cassette and return its digest.

    The file appears in one step, and takes the place of one that was there. UsageError when it
    would hold a secret.
    """
    writer = _Writer(redactor, cassette.exchanges)
    with _vcr(writer).use_cassette(path, record_mode="all", record_on_exception=False) as tape:
        tape.get_metadata(_META, cassette)
        for index, exchange in enumerate(cassette.exchanges):
            tape.append(_request(exchange.key), _response(index))
    return writer.digest


@contextmanager
def open_replay(cassette: CassetteFile, *, scrubs: Sequence[Scrub] = USUAL) -> Iterator[ReplayTape]:
    """Replay a cassette that was read.

    One that was recorded under other rules of scrubbing is scrubbed again, and keyed anew.
    """
    exchanges = rescrubbed(cassette.exchanges, cassette.header.rules, scrubs)
    reader = _Reader(exchanges)
    with _vcr(reader).use_cassette(cassette.digest or "tape", record_mode="none") as tape:
        yield ReplayTape(tape, exchanges)


@dataclass(slots=True)
class _Writer:
    """A persister that starts empty and writes the file in one step."""

    redactor: Redactor
    exchanges: Sequence[Exchange]
    digest: str = ""

    def load_cassette(self, path: str, serializer: object) -> None:  # noqa: ARG002 - VCR's shape
        from vcr.persisters.filesystem import (  # noqa: PLC0415
            CassetteNotFoundError,
        )

        raise CassetteNotFoundError(path)

    def save_cassette(self, path: str, recorded: Mapping[str, Any], serializer: object) -> None:  # noqa: ARG002
        frame: CassetteFile = recorded["metadata"][_META]
        order = (self.exchanges[response["index"]] for response in recorded["responses"])
        data = dump_cassette(replace(frame, exchanges=tuple(order)), redactor=self.redactor)
        write_whole(Path(path), data)
        self.digest = digest_of(data)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A persister that hands over what `load_cassette` read, and never writes.

    Reading a file happens before and outside VCR.py: it takes errors of its own two classes
    for an empty cassette, and an empty cassette would make every request a miss.
    """

    exchanges: Sequence[Exchange]

    def load_cassette(self, path: str, serializer: object) -> tuple[list[Request], list[object]]:  # noqa: ARG002
        requests = [_request(exchange.key) for exchange in self.exchanges]
        return requests, [_response(index) for index in range(len(requests))]

    def save_cassette(self, path: str, recorded: object, serializer: object) -> None:  # noqa: ARG002
        raise UsageError(f"{path} is a replay and is not written")


def _vcr(persister: _Writer | _Reader) -> Any:
    import vcr  # noqa: PLC0415
    from vcr.patch import PATCHER_NAMES  # noqa: PLC0415

    engine = vcr.VCR(skip_patchers=PATCHER_NAMES, match_on=(_MATCHER,))
    engine.register_matcher(_MATCHER, _same_key)
    engine.register_persister(persister)
    return engine


def _same_key(one: Request, other: Request) -> bool:
    return bool(one.uri == other.uri)


def _request(key: str) -> Request:
    """Return the request VCR.py keeps: the key is all it needs to know of it."""
    from vcr.request import Request  # noqa: PLC0415

    return Request("POST", f"http://model/{key}", None, {})


def _response(index: int) -> dict[str, object]:
    """Return the response VCR.py keeps: the number of the exchange, which is ours to hold."""
    empty = {"status": {"code": 200, "message": ""}, "headers": {}, "body": {"string": b""}}
    return {**empty, "index": index}

"""The wire of one trial: what is open, what was seen, and what becomes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from evalgate.core.exchange import Exchange, Miss, Witness
from evalgate.core.json import Json, JsonObject
from evalgate.core.redaction import Redactor
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, ReplayTape, open_recording
from evalgate.gateway.matching import Keyed
from evalgate.gateway.moving import recorded_places
from evalgate.gateway.upstream import Upstream
from evalgate.gateway.witness import read_reply, succeeded, witness_of

#: How long requests on their way may take to end once the agent is stopped.
GRACE_SECONDS = 2.0


class Mode(StrEnum):
    """Whether a model answers, or a cassette.

    In plumbing a cassette of another harness answers in its order, whatever is asked: this
    shows that the agent still runs, and measures nothing.
    """

    LIVE = "live"
    REPLAY = "replay"
    PLUMBING = "plumbing"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    """What a route serves.

    ``upstreams`` is model id -> where it is, empty in a replay; ``tape`` is what a replay plays;
    ``places`` is label -> absolute path, the run's own paths; ``max_turns`` None is no limit.
    """

    mode: Mode
    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    tape: CassetteFile | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    max_turns: int | None = None


class Route:
    """One trial's own way to the model, behind a token nobody can guess."""

    def __init__(
        self,
        spec: RouteSpec,
        *,
        base_url: str,
        redactor: Redactor,
        tape: ReplayTape | None,
        drain: Callable[[Route], None],
    ) -> None:
        """Open on the loop of a gateway; ``drain`` waits until no request is on its way."""
        self.spec = spec
        self.base_url = base_url
        self.redactor = redactor
        self.tape = tape
        self.recorded_places = recorded_places(spec.tape.header) if spec.tape else {}
        self.open = True
        self.tasks: set[asyncio.Task[object]] = set()
        self._drain = drain
        self._opened = time.monotonic()
        self._seen: list[Exchange | None] = []
        self._misses: list[Miss] = []
        self._good: set[int] = set()
        self._reserved: set[int] = set()

    # What the server calls, on its loop.

    def arrive(self) -> tuple[int, float]:
        """Give the next place in the order of arrival, and the seconds since the route opened."""
        self._seen.append(None)
        return len(self._seen) - 1, time.monotonic() - self._opened

    def store(self, slot: int, exchange: Exchange, *, turn: bool) -> None:
        """Keep an exchange that has ended, in the place of what was kept of it before."""
        self._seen[slot] = exchange
        self._good.discard(slot)
        self.release(slot)
        limited = self.spec.max_turns is not None
        if turn and limited and succeeded(exchange, read_reply(exchange)):
            self._good.add(slot)

    def miss(self, request: Keyed, explain: Callable[..., Miss]) -> Miss:
        """Keep and return why a replay has no answer to a request."""
        tape = self.tape
        exchanges = tape.exchanges if tape else ()
        miss = explain(request, exchanges, tape.played if tape else frozenset())
        self._misses.append(miss)
        return miss

    def reserve(self, slot: int) -> bool:
        """Take one more turn; False when the limit leaves none."""
        most = self.spec.max_turns
        if most is not None and len(self._good) + len(self._reserved) >= most:
            return False
        self._reserved.add(slot)
        return True

    def release(self, slot: int) -> None:
        """Give a turn back: from now on it counts only when it was stored as a success."""
        self._reserved.discard(slot)

    # What a trial calls, from any thread.

    def stop(self) -> None:
        """Let no further request in and wait for those on their way, two seconds at most."""
        self.open = False
        self._drain(self)

    def witness(self) -> Witness:
        """Return what was seen so far, in order of arrival."""
        unused = self.tape.unused if self.tape else 0
        return witness_of(self._exchanges(), misses=tuple(self._misses), unused=unused)

    def seal(
        self, path: Path, *, header: JsonObject, claim: JsonObject, record: JsonObject
    ) -> CassetteFile:
        """Stop, and write what was seen to a cassette; return it with the file's digest.

        The header gets ``places``, so that a replay elsewhere can move the paths in replies.
        UsageError when the route is a replay, or the file would hold a secret.
        """
        if self.spec.mode is not Mode.LIVE:
            raise UsageError("a replay is no recording and can not be sealed")
        self.stop()
        places: Json = dict(self.spec.places)
        whole = CassetteFile(
            header={"places": places, **header},
            exchanges=self._exchanges(),
            claim=claim,
            record=record,
        )
        with open_recording(path, cassette=whole, redactor=self.redactor) as tape:
            pass
        return replace(whole, digest=tape.digest)

    def _exchanges(self) -> tuple[Exchange, ...]:
        return tuple(one for one in list(self._seen) if one is not None)

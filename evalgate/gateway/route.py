"""The wire of one trial: what is open, what was seen, and what becomes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from evalgate.core.exchange import Exchange, Miss, Witness
from evalgate.core.faults import Fault
from evalgate.core.json import JsonObject
from evalgate.core.limits import Allowance
from evalgate.core.pricing import Price
from evalgate.core.redaction import Redactor
from evalgate.core.request import distinct
from evalgate.core.scrubs import Scrub
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, ReplayTape, open_recording
from evalgate.gateway.faults import Faults
from evalgate.gateway.format.journal import Journal
from evalgate.gateway.keys.cleaning import USUAL, Cleaner, Pieces
from evalgate.gateway.keys.matching import Keyed, Keying
from evalgate.gateway.keys.rescrubbing import wire_header
from evalgate.gateway.limits import Bill, Meter, Spending
from evalgate.gateway.streams.moving import recorded_places
from evalgate.gateway.upstream import Upstream
from evalgate.gateway.witness.witness import read_reply, witness_of

#: How long requests on their way may take to end once the agent is stopped.
GRACE_SECONDS: Final = 2.0

#: How long a request may take to arrive: minutes would be an agent that hangs.
UPLOAD_SECONDS: Final = 60.0


class Mode(StrEnum):
    """Whether a model answers, or a cassette.

    In plumbing a cassette of another harness answers in its order, whatever is asked: this
    shows that the agent still runs, and measures nothing. In topping-up a cassette answers as
    far as it goes, and the model what is missing in it.
    """

    LIVE = "live"
    REPLAY = "replay"
    PLUMBING = "plumbing"
    TOPPING_UP = "topping-up"

    @property
    def asks_model(self) -> bool:
        """Tell whether a model may be asked, and a recording sealed."""
        return self in {Mode.LIVE, Mode.TOPPING_UP}


class Missing:
    """How many requests a run may send to the model because they were not recorded."""

    def __init__(self, most: int) -> None:
        """Allow ``most``; asked from the loop of one gateway alone."""
        self.most = most
        self.used = 0

    def take(self) -> bool:
        """Use one up; False when there is none left."""
        left = self.used < self.most
        self.used += left
        return left


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    """What a route serves.

    ``upstreams`` is model id -> where it is, empty in a replay; ``tape`` is what a replay plays;
    ``places`` is label -> absolute path, the run's own paths; ``scrubs`` are the rules that keys
    are made by. ``allowed``, ``prices`` (model id -> price) and ``spending`` limit what is sent
    to a model; a replay meets the refusals that were recorded. ``faults`` go wrong on purpose.
    A request must come whole within ``upload_seconds``. ``missing`` bounds what is asked beyond
    the tape in topping-up, None is without a bound. ``journal`` is where what is recorded is
    kept until it is sealed. ``pace`` is how fast the pieces of a recorded stream come: 1 as they
    did, 0 at once.
    """

    mode: Mode
    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    tape: CassetteFile | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    scrubs: tuple[Scrub, ...] = USUAL
    allowed: Allowance = field(default_factory=Allowance)
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    spending: Spending | None = None
    faults: tuple[Fault, ...] = ()
    upload_seconds: float = UPLOAD_SECONDS
    missing: Missing | None = None
    journal: Path | None = None
    pace: float = 0.0


class Route:
    """One trial's own way to the model, behind a token nobody can guess."""

    def __init__(
        self,
        spec: RouteSpec,
        *,
        origin: str,
        token: str,
        redactor: Redactor,
        tape: ReplayTape | None,
        drain: Callable[[Route], None],
        pieces: Pieces,
        journal: Journal | None = None,
    ) -> None:
        """Open on the loop of a gateway; ``drain`` waits until no request is on its way."""
        self.spec = spec
        #: The route on whatever the gateway listens: a port, or a socket in a sandbox.
        self.path = f"/r/{token}"
        self.base_url = origin + self.path
        self.redactor = redactor
        self.tape = tape
        self.keying = Keying(
            Cleaner(redactor=redactor, places=spec.places, scrubs=spec.scrubs, pieces=pieces)
        )
        if tape is not None and not spec.mode.asks_model:
            self._know(tape)
        self.recorded_places = recorded_places(spec.tape.header) if spec.tape else {}
        self.open = True
        self.tasks: set[asyncio.Task[object]] = set()
        self._drain = drain
        self._journal = journal
        self._opened = time.monotonic()
        self._seen: list[Exchange | None] = []
        self._misses: list[Miss] = []
        self.meter = Meter(spec.allowed, prices=spec.prices, spending=spec.spending)
        self.faults = Faults(spec.faults)
        #: Seconds of what was played in topping-up, as they were when it was recorded.
        self.saved = 0.0
        #: How many requests of a top-up the model was asked, since they were not recorded.
        self.asked_now = 0
        self.counts = spec.mode.asks_model or self.faults.by_turn

    def _know(self, tape: ReplayTape) -> None:
        for dialect in {one.dialect for one in tape.exchanges}:
            said = (one.request for one in tape.exchanges if one.dialect == dialect)
            for piece in distinct(said):
                self.keying.cleaner.know(piece, dialect)

    # What the server calls, on its loop.

    def arrive(self) -> tuple[int, float]:
        """Give the next place in the order of arrival, and the seconds since the route opened."""
        self._seen.append(None)
        return len(self._seen) - 1, time.monotonic() - self._opened

    def store(self, slot: int, exchange: Exchange, *, bill: Bill) -> None:
        """Keep an exchange that has ended, in the place of what was kept of it before."""
        self._seen[slot] = exchange
        if self._journal is not None:
            self._journal.append(slot, exchange)
        self.count(slot, exchange, bill=bill)

    def count(self, slot: int, exchange: Exchange, *, bill: Bill) -> None:
        """Count what an exchange has used, also when the agent never got it."""
        self.meter.release(slot)
        if self.counts and bill.paid:
            self.meter.count(slot, exchange, read_reply(exchange), bill=bill)

    def miss(self, request: Keyed, explain: Callable[..., Miss]) -> Miss:
        """Keep and return why a replay has no answer to a request."""
        tape = self.tape
        exchanges = tape.exchanges if tape else ()
        miss = explain(request, exchanges, tape.played if tape else frozenset())
        self._misses.append(miss)
        return miss

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
        The journal is no longer needed then, and removed. UsageError when the route is a
        replay, or the file would hold a secret.
        """
        if not self.spec.mode.asks_model:
            raise UsageError("a replay is no recording and can not be sealed")
        self.stop()
        spec, hits = self.spec, self.keying.cleaner.hits
        whole = CassetteFile(
            header={**wire_header(spec.places, spec.scrubs, hits), **header},
            exchanges=self._exchanges(),
            claim=claim,
            record=record,
        )
        with open_recording(path, cassette=whole, redactor=self.redactor) as tape:
            pass
        if self._journal is not None:
            self._journal.discard()
        return replace(whole, digest=tape.digest)

    def _exchanges(self) -> tuple[Exchange, ...]:
        return tuple(one for one in list(self._seen) if one is not None)

"""The wire of one trial: what is open, what was seen, and what becomes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from evalgate.core.exchange import Exchange, Miss, Witness
from evalgate.core.faults import Fault
from evalgate.core.json import JsonObject
from evalgate.core.redaction import Redactor
from evalgate.core.request import distinct
from evalgate.errors import EvalgateError, UsageError
from evalgate.gateway.capture import Capture
from evalgate.gateway.cassette import CassetteFile, ReplayTape, write_recording
from evalgate.gateway.faults import Faults
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import Journal
from evalgate.gateway.keys.cleaning import Cleaner, Pieces
from evalgate.gateway.keys.matching import Keyed, Keying
from evalgate.gateway.keys.rescrubbing import scrubbed_by
from evalgate.gateway.limits.charge import Bill
from evalgate.gateway.limits.meter import Meter
from evalgate.gateway.route_spec import RouteSpec
from evalgate.gateway.streams.moving import labelled_body
from evalgate.gateway.witness.witness import Refusal, read_reply, witness_of

#: How long requests on their way may take to end once the agent is stopped.
GRACE_SECONDS: Final = 2.0


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
        self.base_url = f"{origin}/r/{token}"
        self.redactor = redactor
        self.tape = tape
        self.keying = Keying(
            Cleaner(redactor=redactor, places=spec.places, scrubs=spec.scrubs, pieces=pieces)
        )
        if tape is not None and not spec.mode.asks_model:
            self._know(tape)
        self.recorded_places = spec.tape.header.places if spec.tape else {}
        self.open = True
        #: What a person has to mend before any trial can be measured.
        self.broken: EvalgateError | None = None
        self.tasks: set[asyncio.Task[object]] = set()
        self._drain = drain
        self._journal = journal
        self._opened = time.monotonic()
        self._seen: list[Exchange | None] = []
        self._misses: list[Miss] = []
        self.meter = Meter(spec.allowed, prices=spec.prices, spending=spec.spending)
        self.faults = Faults(spec.faults)
        self._places: dict[int, int] = {}
        #: Seconds of what was played in a top-up, as they were when it was recorded.
        self.saved = 0.0
        #: How many requests of a top-up the model was asked, since they were not recorded.
        self.topped_up = 0
        self._counts = spec.mode.asks_model or self.faults.by_turn

    @property
    def replays(self) -> ReplayTape | None:
        """The tape when nothing else may answer; None when a model may be asked."""
        return None if self.spec.mode.asks_model else self.tape

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

    async def run(self, work: Coroutine[Any, Any, web.StreamResponse]) -> web.StreamResponse:
        """Do what answers a request; `stop` waits for it."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return await task

    def admit(self, slot: int, *, bill: Bill) -> tuple[Refusal, str] | None:
        """Let a request through to the model, or say which limit forbids it."""
        return self.meter.admit(slot, turn=bill.turn) if bill.paid else None

    def release(self, slot: int) -> None:
        """Say that a request is answered; only what succeeded counts from now on."""
        self.meter.release(slot)

    def ask_anew(self) -> bool:
        """Tell whether the model may be asked what the tape does not hold, and count that."""
        if self.tape is None:
            return True
        if self.spec.top_up is not None and not self.spec.top_up.take():
            return False
        self.topped_up += 1
        return True

    def play(self, slot: int, exchange: Exchange, body: bytes, *, began: float, bill: Bill) -> None:
        """Keep an exchange of the tape as the answer to a request.

        In a replay it is kept as it was recorded, and in its place there, whenever it is asked
        for. In a top-up it is part of a new recording, with the places of this run in its
        ``body``, and was paid for before.
        """
        if self.replays is not None:
            self._places[slot] = self.replays.index_of(exchange)
        else:
            self.meter.paid_before(slot)
            self.saved += exchange.seconds
            # Of a body that is not as it came, nobody can say how it was cut.
            cuts = exchange.cuts if body == exchange.body else ()
            exchange = replace(exchange, began=round(began, 6), body=body, cuts=cuts)
        self.store(slot, exchange, bill=bill)

    def next_fault(self, slot: int, *, bill: Bill) -> Fault | None:
        """Return what goes wrong with a request; it is not used up before `fire`."""
        turn = self.meter.used.turns + 1 if bill.turn and self._counts else None
        return self.faults.next(request=slot + 1, turn=turn)

    def fire(self, slot: int, fault: Fault) -> None:
        """Use a fault up on a request."""
        self.faults.fire(fault, request=slot + 1)

    def hold(self, slot: int, capture: Capture, *, bill: Bill) -> None:
        """Keep a reply that was paid for and spoiled for whoever asks the same again."""
        self.faults.hold(capture)
        self.count(slot, capture.exchange(), bill=bill)

    def store(self, slot: int, exchange: Exchange, *, bill: Bill) -> None:
        """Keep an exchange that has ended, in the place of what was kept of it before."""
        body = exchange.body
        if self.spec.mode.asks_model:
            body = labelled_body(body, self.spec.labels)
        if body != exchange.body:
            exchange = replace(exchange, body=body, cuts=())
        self._seen[slot] = exchange
        self.count(slot, exchange, bill=bill, written=self._journal is not None)
        if self._journal is not None:
            self._journal.append(slot, exchange)
            if self._journal.trouble is not None:
                self.give_up(self._journal.trouble)

    def count(self, slot: int, exchange: Exchange, *, bill: Bill, written: bool = False) -> None:
        """Count what an exchange has used, also when the agent never got it.

        ``written`` tells that the journal keeps it.
        """
        self.meter.release(slot)
        if self._counts and bill.paid:
            reply = read_reply(exchange)
            self.meter.count(slot, exchange, reply, bill=bill, written=written)

    def give_up(self, error: EvalgateError) -> None:
        """Let no further request in: a person has to mend something first."""
        self.broken, self.open = error, False

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
        """Return what was seen so far.

        In order of arrival, but in a replay in that of the recording: agents that ask in
        parallel arrive in another order each time.
        """
        unused = self.tape.unused if self.tape else 0
        return witness_of(self._exchanges(), misses=tuple(self._misses), unused=unused)

    def seal(
        self, path: Path, *, header: Header, claim: JsonObject, record: JsonObject
    ) -> CassetteFile:
        """Stop, and write what was seen to a cassette; return it with the file's digest.

        The header gets what the wire knows: the places, and how requests were scrubbed.
        The journal stays until somebody removes it: the trial is not on disk yet. UsageError
        when the route is a replay, or the file would hold a secret.
        """
        if not self.spec.mode.asks_model:
            raise UsageError("a replay is no recording and can not be sealed")
        self.stop()
        scrubs = scrubbed_by(self.spec.scrubs, self.keying.cleaner.hits)
        whole = CassetteFile(
            header=replace(header, places=self.spec.kept_places, scrubs=scrubs),
            exchanges=self._exchanges(),
            claim=claim,
            record=record,
        )
        digest = write_recording(path, cassette=whole, redactor=self.redactor)
        return replace(whole, digest=digest)

    def _exchanges(self) -> tuple[Exchange, ...]:
        seen = [(slot, one) for slot, one in enumerate(list(self._seen)) if one is not None]
        if self._places:
            # An answer of our own has no place in the recording: it comes last.
            last = len(self.tape.exchanges) if self.tape else 0
            seen.sort(key=lambda pair: self._places.get(pair[0], last))
        return tuple(one for _, one in seen)

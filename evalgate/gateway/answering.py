"""What becomes of one request: read, keyed, and answered by a fault, the tape or the model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import aiohttp
from aiohttp import web

from evalgate.core.faults import Fault, FaultKind
from evalgate.gateway.asking import ask_model, words_of
from evalgate.gateway.body import BodyError, ClientLeftError, read_body
from evalgate.gateway.capture import Capture
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.incoming import Incoming
from evalgate.gateway.limits import Bill, bill_of
from evalgate.gateway.playing import missed, replay, top_up
from evalgate.gateway.relay import cut, reset
from evalgate.gateway.route import Route
from evalgate.gateway.witness.witness import Refusal

_log = logging.getLogger(__name__)


class Answering:
    """One request on one route."""

    def __init__(
        self,
        request: web.Request,
        route: Route,
        dialect: Dialect,
        path: str,
        session: Callable[[], aiohttp.ClientSession],
    ) -> None:
        """Answer a request of ``dialect`` for ``path`` of its API."""
        slot, began = route.arrive()
        self._incoming = Incoming(
            request=request,
            route=route,
            dialect=dialect,
            path=path,
            slot=slot,
            began=began,
            bill=Bill(),
        )
        self._session = session

    async def answer(self) -> web.StreamResponse:
        """Answer the request and keep the exchange.

        A request that did not arrive whole is no exchange: nothing was asked.
        """
        incoming = self._incoming
        try:
            seconds = incoming.route.spec.upload_seconds
            body = await read_body(incoming.request, seconds=seconds)
        except BodyError as error:
            return await self._not_taken(error)
        except ClientLeftError:
            return web.Response()
        method, path, dialect = incoming.request.method, incoming.path, incoming.dialect
        headers, query = incoming.request.headers, incoming.query()
        keying = incoming.route.keying
        keyed = keying.keyed(dialect, method, path, body, headers=headers, query=query)
        named = dialect.model_of(path, keyed.request.only("model"))
        incoming.bill = bill_of(dialect, method, path, named)
        fault = self._fault()
        if fault is not None and not fault.kind.spoils_reply:
            response = await self._hit(fault)
            if response is not None:
                return response
            fault = None
        try:
            return await self._answered(incoming.capture(keyed), body, fault)
        finally:
            incoming.route.meter.release(incoming.slot)

    async def fail(self, error: Exception) -> web.StreamResponse:
        """Answer after an error of our own: the trial was not measured, and its witness says so."""
        _log.debug("the gateway failed", exc_info=error)
        incoming = self._incoming
        message = f"evalgate: the gateway failed: {words_of(error)}"
        request = incoming.route.keying.keyed(incoming.dialect, "POST", incoming.path, b"")
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        return await incoming.refuse(incoming.capture(request), Refusal.INTERNAL, status, message)

    async def _answered(
        self, capture: Capture, body: bytes, fault: Fault | None
    ) -> web.StreamResponse:
        incoming, route = self._incoming, self._incoming.route
        tape = route.tape
        if not route.spec.mode.asks_model:
            if tape is None:
                raise ValueError("a replay has a tape")
            return await replay(incoming, tape, capture, fault)
        if tape is not None:
            known = await top_up(incoming, tape, capture)
            if known is not None:
                return known
            if route.spec.missing is not None and not route.spec.missing.take():
                return missed(incoming, capture)
            route.asked_now += 1
        return await ask_model(incoming, capture, body, fault, self._session)

    async def _not_taken(self, error: BodyError) -> web.StreamResponse:
        response = self._incoming.plain(error.status, error.message)
        if error.status is HTTPStatus.REQUEST_TIMEOUT:
            # The server would wait for the rest of the request before it ends the connection.
            with suppress(ConnectionError):
                await response.prepare(self._incoming.request)
                await response.write_eof()
            cut(self._incoming.request)
        return response

    def _fault(self) -> Fault | None:
        route, bill = self._incoming.route, self._incoming.bill
        turn = route.meter.used.turns + 1 if bill.turn and route.counts else None
        return route.faults.next(request=self._incoming.slot + 1, turn=turn)

    async def _hit(self, fault: Fault) -> web.StreamResponse | None:
        """Let a fault happen before there is an answer; None when the answer comes after it."""
        incoming = self._incoming
        incoming.fire(fault)
        match fault.kind:
            case FaultKind.STALL:
                await asyncio.sleep(fault.seconds)
                return None
            case FaultKind.RESET:
                reset(incoming.request)
                return web.Response()
            case _:
                body = incoming.dialect.error(fault.status, "a fault of the plan")
                headers = {"content-type": "application/json", **fault.headers}
                return web.Response(status=fault.status, body=body, headers=headers)

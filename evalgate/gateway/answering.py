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
from evalgate.errors import UsageError
from evalgate.gateway.asking import ask_model, words_of
from evalgate.gateway.body import BodyError, ClientLeftError, read_body
from evalgate.gateway.capture import Capture
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.incoming import Incoming
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.leading_out import LEADS_OUT, leads_out
from evalgate.gateway.limits.charge import Bill, bill_of
from evalgate.gateway.playing import missed, replay, top_up
from evalgate.gateway.relay import cut, reset, respond
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
        self._keyed: Keyed | None = None

    async def answer(self) -> web.StreamResponse:
        """Answer the request and keep the exchange; an error of our own is an answer as well.

        A request that did not arrive whole, or leads out of the API, is no exchange: nothing
        was asked.
        """
        try:
            return await self._answer()
        except Exception as error:  # noqa: BLE001 - one bad request must not end the others
            return await self._fail(error)

    async def _answer(self) -> web.StreamResponse:
        incoming = self._incoming
        if leads_out(incoming.request.raw_path.partition("?")[0]):
            return incoming.plain(HTTPStatus.BAD_REQUEST, f"evalgate: {LEADS_OUT}")
        try:
            seconds = incoming.route.spec.upload_seconds
            body = await read_body(incoming.request, seconds=seconds)
        except BodyError as error:
            return await self._not_taken(error)
        except ClientLeftError:
            return web.Response()
        keyed = self._keyed = incoming.keyed(body)
        named = incoming.dialect.model_of(incoming.path, keyed.request.only("model"))
        incoming.bill = bill_of(incoming.dialect, keyed.method, incoming.path, named)
        fault = incoming.route.next_fault(incoming.slot, bill=incoming.bill)
        if fault is not None and not fault.kind.spoils_reply:
            response = await self._hit(fault)
            if response is not None:
                return response
            fault = None
        try:
            return await self._answered(incoming.capture(keyed), body, fault)
        finally:
            incoming.route.release(incoming.slot)

    async def _fail(self, error: Exception) -> web.StreamResponse:
        """Answer after an error of our own: the trial was not measured, and its witness says so."""
        _log.debug("the gateway failed", exc_info=error)
        incoming = self._incoming
        if isinstance(error, UsageError):
            incoming.route.give_up(error)
        message = f"evalgate: the gateway failed: {words_of(error)}"
        request = self._keyed or incoming.keyed(b"")
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        return await incoming.refuse(incoming.capture(request), Refusal.INTERNAL, status, message)

    async def _answered(
        self, capture: Capture, body: bytes, fault: Fault | None
    ) -> web.StreamResponse:
        incoming, route = self._incoming, self._incoming.route
        if route.replays is not None:
            return await replay(incoming, route.replays, capture, fault)
        known = None if route.tape is None else await top_up(incoming, route.tape, capture, fault)
        if known is not None:
            return known
        held = route.faults.held(capture.request.key)
        if held is not None:
            # Its place in the order is that of the request it was paid for.
            return await respond(incoming.request, held)
        if not route.ask_anew():
            return missed(incoming, capture)
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

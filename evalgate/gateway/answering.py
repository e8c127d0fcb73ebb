"""What becomes of one request: refused, played from the tape, or sent to its model."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp import web

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.capture import Capture
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.divergence import explain
from evalgate.gateway.matching import Keyed, keyed
from evalgate.gateway.moving import moved_body
from evalgate.gateway.relay import relay, respond
from evalgate.gateway.route import Mode, Route
from evalgate.gateway.upstream import Upstream, send
from evalgate.gateway.veil import Veil
from evalgate.gateway.witness import REFUSAL, Refusal

#: Larger than any provider takes; beyond it a request is refused and not keyed.
MAX_BODY: Final = 32 << 20

_log = logging.getLogger(__name__)

_FINAL: Final = {"x-should-retry": "false"}


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
        self._request = request
        self._route = route
        self._dialect = dialect
        self._path = path
        self._session = session
        self._slot, self._began = route.arrive()

    async def answer(self) -> web.StreamResponse:
        """Answer the request and keep the exchange."""
        try:
            body = await self._request.read()
        except web.HTTPRequestEntityTooLarge:
            return self._plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large())
        if len(body) > MAX_BODY:
            return self._plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large())
        request = keyed(
            self._dialect,
            self._request.method,
            self._path,
            body,
            redactor=self._route.redactor,
            places=self._route.spec.places,
        )
        capture = self._capture(request)
        turn = self._dialect.is_turn(self._path)
        if turn and not self._route.reserve(self._slot):
            return await self._limit(capture)
        try:
            if self._route.spec.mode is not Mode.LIVE:
                return await self._replay(capture)
            return await self._live(capture, body)
        finally:
            self._route.release(self._slot)

    async def fail(self, error: Exception) -> web.StreamResponse:
        """Answer after an error of our own: the trial was not measured, and its witness says so."""
        _log.debug("the gateway failed", exc_info=error)
        message = f"evalgate: the gateway failed: {_words(error)}"
        request = keyed(self._dialect, "POST", self._path, b"", redactor=Redactor({}), places={})
        capture = self._capture(request)
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        return await self._refuse(capture, Refusal.INTERNAL, status, message)

    async def _replay(self, capture: Capture) -> web.StreamResponse:
        tape = self._route.tape
        exchange = None
        if tape is not None and self._route.spec.mode is Mode.PLUMBING:
            exchange = tape.play_next()
        elif tape is not None:
            exchange = tape.play(capture.request.key)
        if exchange is None:
            miss = self._route.miss(capture.request, explain)
            return self._plain(HTTPStatus.BAD_REQUEST, f"replay diverged: {miss.sentence}")
        return await self._played(capture, exchange)

    async def _played(self, capture: Capture, exchange: Exchange) -> web.StreamResponse:
        self._store(exchange)
        # The witness of a replay is what was recorded, also when this agent is gone already.
        capture.store = None
        capture.status = exchange.status
        capture.headers = exchange.headers
        places = self._route.spec.places
        capture.body += moved_body(exchange.body, self._route.recorded_places, places)
        capture.ending = exchange.ending
        return await respond(self._request, capture)

    async def _limit(self, capture: Capture) -> web.StreamResponse:
        message = f"evalgate: the limit of {self._route.spec.max_turns} model turns is reached"
        tape = self._route.tape
        if tape is not None:
            exchange = tape.play(capture.request.key)
            if exchange is not None and exchange.headers.get(REFUSAL) == Refusal.LIMIT:
                return await self._played(capture, exchange)
        return await self._refuse(capture, Refusal.LIMIT, HTTPStatus.BAD_REQUEST, message)

    async def _live(self, capture: Capture, body: bytes) -> web.StreamResponse:
        model = self._dialect.read_request(body).model
        upstream = self._route.spec.upstreams.get(model or "")
        if upstream is None or not upstream.speaks(self._dialect.name):
            message = _not_configured(model, upstream, self._dialect)
            return await self._refuse(capture, Refusal.MODEL, HTTPStatus.BAD_REQUEST, message)
        try:
            return await self._sent_on(capture, upstream, body)
        except (aiohttp.ClientError, TimeoutError) as error:
            # Neither agent nor cassette may learn a URL: it may hold a password or a hidden host.
            message = f"evalgate: model {model} can not be reached: {_words(error)}"
            return await self._refuse(capture, Refusal.UNREACHABLE, HTTPStatus.BAD_GATEWAY, message)

    async def _sent_on(
        self, capture: Capture, upstream: Upstream, body: bytes
    ) -> web.StreamResponse:
        try:
            answer = await send(
                self._session(),
                upstream,
                target=self._target(),
                headers=self._request.headers,
                body=body,
            )
            veil = Veil(upstream.key, self._route.redactor.text(upstream.key or ""))
            async with answer:
                return await relay(self._request, answer, capture, veil)
        except asyncio.CancelledError:
            capture.keep(Ending.CLIENT_GONE)
            raise

    async def _refuse(
        self, capture: Capture, refusal: Refusal, status: HTTPStatus, message: str
    ) -> web.StreamResponse:
        """Answer in the provider's place; kept, so that a replay meets the same answer."""
        capture.status = status
        capture.headers = {"content-type": "application/json", REFUSAL: refusal, **_FINAL}
        capture.body += self._dialect.error(status, message)
        return await respond(self._request, capture)

    def _capture(self, request: Keyed) -> Capture:
        redactor = self._route.redactor
        return Capture(request=request, began=self._began, redactor=redactor, store=self._store)

    def _store(self, exchange: Exchange) -> None:
        self._route.store(self._slot, exchange, turn=self._dialect.is_turn(self._path))

    def _plain(self, status: HTTPStatus, message: str) -> web.Response:
        """Answer what is no exchange."""
        return web.Response(
            status=status,
            body=self._dialect.error(status, message),
            content_type="application/json",
            headers=_FINAL,
        )

    def _target(self) -> str:
        """Return the API's path with the query, without what could hold a key."""
        query = self._request.rel_url.query
        kept = [(name, value) for name, value in query.items() if "key" not in name.lower()]
        url = self._request.rel_url.with_path(self._path).with_query(kept)
        return str(url.relative() if url.is_absolute() else url)


def _too_large() -> str:
    return f"evalgate: a request of more than {MAX_BODY >> 20} MiB is not taken"


def _not_configured(model: str | None, upstream: Upstream | None, dialect: Dialect) -> str:
    if model is None:
        return "evalgate: the request names no model"
    if upstream is None:
        return f"evalgate: model {model} is not configured"
    return f"evalgate: model {model} is not configured for the dialect {dialect.name}"


def _words(error: BaseException) -> str:
    """Name an error without its own text, which names hosts and URLs."""
    name = type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    return f"{name} ({os.strerror(number)})" if number is not None and number > 0 else name

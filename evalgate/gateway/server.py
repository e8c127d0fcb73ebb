"""The gateway: an HTTP server on loopback, in one thread of its own, with a route a trial."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http import HTTPStatus
from typing import Final

import aiohttp
import orjson
from aiohttp import web

from evalgate.core.limits import Allowance
from evalgate.core.redaction import Redactor
from evalgate.gateway.answering import Answering
from evalgate.gateway.body import MAX_BODY
from evalgate.gateway.cassette import open_replay
from evalgate.gateway.dialects.table import find_dialect
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import open_journal
from evalgate.gateway.keys.cleaning import Pieces
from evalgate.gateway.keys.rescrubbing import scrubbed_by
from evalgate.gateway.limits.charge import require_known_prices
from evalgate.gateway.loopback import Loopback
from evalgate.gateway.route import GRACE_SECONDS, Route
from evalgate.gateway.route_spec import Mode, RouteSpec
from evalgate.gateway.upstream import open_session

__all__ = ["Gateway", "Mode", "Route", "RouteSpec", "open_gateway"]

_TOKEN_BYTES: Final = 24
_ROOTS: Final = frozenset({"", "/", "/v1", "/v1/"})


class Gateway:
    """Serves any number of routes at once; made by `open_gateway`."""

    def __init__(self, *, redactor: Redactor) -> None:
        """Prepare a gateway that is not open yet."""
        self._redactor = redactor
        self._routes: dict[str, Route] = {}
        self._pieces = Pieces()
        self._session: aiohttp.ClientSession | None = None
        # Bodies are unpacked by ourselves, so that a bad one is answered in its API's own words.
        self._server = Loopback(
            self._handle,
            name="evalgate-gateway",
            max_size=MAX_BODY,
            grace=GRACE_SECONDS,
            decompresses=False,
            closing=self._close_session,
        )

    @property
    def port(self) -> int:
        """The port it listens on; 0 until it is open."""
        return self._server.port

    def open_route(self, spec: RouteSpec) -> AbstractContextManager[Route]:
        """Open one trial's way to the model; it is closed when the context ends."""
        return self._open_route(spec)

    @contextmanager
    def _open_route(self, spec: RouteSpec) -> Iterator[Route]:
        run = spec.spending.allowed if spec.spending else Allowance()
        require_known_prices(spec.upstreams, spec.prices, spec.allowed, run)
        # In the order of the models: that of the keys would be another one on each machine.
        keys = dict.fromkeys(up.key for _, up in sorted(spec.upstreams.items()) if up.key)
        named = {f"provider-key-{n}": key for n, key in enumerate(keys, start=1)}
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with ExitStack() as stack:
            opened = open_replay(spec.tape, scrubs=spec.scrubs) if spec.tape else None
            tape = stack.enter_context(opened) if opened else None
            redactor = self._redactor.also(named)
            journal = None
            if spec.journal is not None and spec.mode.asks_model:
                header = Header(places=spec.kept_places, scrubs=scrubbed_by(spec.scrubs))
                opening = open_journal(spec.journal, header=header, redactor=redactor)
                journal = stack.enter_context(opening)
            route = Route(
                spec,
                origin=f"http://127.0.0.1:{self.port}",
                token=token,
                redactor=redactor,
                tape=tape,
                drain=self._drain,
                pieces=self._pieces,
                journal=journal,
            )
            self._routes[token] = route
            try:
                yield route
            finally:
                route.stop()
                del self._routes[token]

    def open(self) -> None:
        """Start the thread and listen on a free port of the loopback."""
        self._server.open()

    def close(self) -> None:
        """Close what is open and end the thread."""
        self._server.close()

    async def _close_session(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _client(self) -> aiohttp.ClientSession:
        """Return the one session, made by the first live request: a replay never has one."""
        if self._session is None:
            self._session = open_session()
        return self._session

    def _drain(self, route: Route) -> None:
        if self._server.running:
            self._server.call(_drained(route))

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        # An encoded slash stays one: it is no end of a segment.
        path = request.rel_url.path_safe
        token, _, tail = path.removeprefix("/r/").partition("/")
        route = self._routes.get(token) if path.startswith("/r/") else None
        if route is None:
            return _plain(HTTPStatus.NOT_FOUND, "evalgate: no such route")
        if not route.open:
            return _plain(HTTPStatus.GONE, "evalgate: the trial of this route has ended")
        return await self._on(route, request, f"/{tail}" if tail else "")

    async def _on(self, route: Route, request: web.Request, path: str) -> web.StreamResponse:
        if request.headers.get("upgrade", "").lower() == "websocket":
            # Clients that try a websocket first take this answer, and no other, as "use HTTP".
            return _plain(HTTPStatus.UPGRADE_REQUIRED, "evalgate: no websockets here, use HTTP")
        if path in _ROOTS and request.method in {"GET", "HEAD", "OPTIONS"}:
            return web.json_response({})
        found = find_dialect(request.method, path, request.headers)
        if found is None:
            what = f"{request.method} {path or '/'}"
            return _plain(HTTPStatus.NOT_FOUND, f"evalgate: no known model API at {what}")
        return await route.run(Answering(request, route, *found, self._client).answer())


@contextmanager
def open_gateway(*, redactor: Redactor) -> Iterator[Gateway]:
    """Open a gateway on a free port of the loopback; closed with all its routes at the end."""
    gateway = Gateway(redactor=redactor)
    gateway.open()
    try:
        yield gateway
    finally:
        gateway.close()


async def _drained(route: Route) -> None:
    """Wait for what is on its way, then cut it: its agent is gone."""
    waiting = set(route.tasks)
    if not waiting:
        return
    _, late = await asyncio.wait(waiting, timeout=GRACE_SECONDS)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)


def _plain(status: HTTPStatus, message: str) -> web.Response:
    """Return an error in a shape that clients of every dialect can read."""
    error = {"type": "invalid_request_error", "message": message}
    body = orjson.dumps({"type": "error", "error": error})
    return web.Response(
        status=status,
        body=body,
        content_type="application/json",
        headers={"x-should-retry": "false"},
    )

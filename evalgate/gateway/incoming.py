"""One request on one route: where it came from, how it counts, and how it may be answered."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web

from evalgate.core.exchange import Exchange
from evalgate.core.faults import Fault
from evalgate.gateway.capture import Capture
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.limits.charge import Bill
from evalgate.gateway.relay import respond
from evalgate.gateway.route import Route
from evalgate.gateway.target import as_it_came, query_of, raw_query
from evalgate.gateway.witness.witness import REFUSAL, Refusal

_FINAL: Final = {"x-should-retry": "false"}


@dataclass(slots=True, kw_only=True)
class Incoming:
    """A request of ``dialect`` for ``path`` of its API.

    ``slot`` is its place in the order of arrival, ``began`` the seconds since the route opened;
    ``bill`` says how it counts, once its body was read.
    """

    request: web.Request
    route: Route
    dialect: Dialect
    path: str
    slot: int
    began: float
    bill: Bill

    def keyed(self, body: bytes) -> Keyed:
        """Return the request, with this body, as it is stored and matched."""
        return self.route.keying.keyed(
            self.dialect,
            self.request.method,
            self.path,
            body,
            headers=self.request.headers,
            query=self.query(),
        )

    def capture(self, request: Keyed) -> Capture:
        """Return what collects the response to this request."""
        redactor = self.route.redactor
        return Capture(request=request, began=self.began, redactor=redactor, store=self.store)

    def store(self, exchange: Exchange) -> None:
        """Keep the exchange that this request became."""
        self.route.store(self.slot, exchange, bill=self.bill)

    def play(self, exchange: Exchange, body: bytes) -> None:
        """Keep the exchange of the tape that answers this request, here with this body."""
        self.route.play(self.slot, exchange, body, began=self.began, bill=self.bill)

    def hold(self, capture: Capture) -> None:
        """Keep a spoiled reply to this request for whoever asks the same again."""
        self.route.hold(self.slot, capture, bill=self.bill)

    def fire(self, fault: Fault) -> None:
        """Use a fault up on this request."""
        self.route.fire(self.slot, fault)

    async def refuse(
        self, capture: Capture, refusal: Refusal, status: HTTPStatus, message: str
    ) -> web.StreamResponse:
        """Answer in the provider's place; kept, so that a replay meets the same answer."""
        capture.status = status
        capture.headers = {"content-type": "application/json", REFUSAL: refusal, **_FINAL}
        capture.body += self.dialect.error(status, message)
        return await respond(self.request, capture)

    def plain(self, status: HTTPStatus, message: str) -> web.Response:
        """Answer what is no exchange."""
        return web.Response(
            status=status,
            body=self.dialect.error(status, message),
            content_type="application/json",
            headers=_FINAL,
        )

    def query(self) -> list[tuple[str, str]]:
        """Return the query without what could hold a key."""
        return query_of(self.request.rel_url.raw_query_string)

    def target(self) -> str:
        """Return the API's path with the query that goes on, both as they came."""
        url = self.request.rel_url
        path = as_it_came(self.path, plain=url.path_safe, raw=url.raw_path)
        query = raw_query(url.raw_query_string)
        return f"{path}?{query}" if query else path

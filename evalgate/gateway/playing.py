"""A request answered by the tape: whole, spoiled on purpose, or not at all."""

from __future__ import annotations

from http import HTTPStatus

from aiohttp import web

from evalgate.core.exchange import Exchange
from evalgate.core.faults import Fault
from evalgate.gateway.capture import Capture
from evalgate.gateway.cassette import ReplayTape
from evalgate.gateway.faults import Spoiled, can_spoil, spoiled
from evalgate.gateway.incoming import Incoming
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.relay import break_off, respond
from evalgate.gateway.route_spec import Mode
from evalgate.gateway.streams.moving import moved_body


async def replay(
    incoming: Incoming, tape: ReplayTape, capture: Capture, fault: Fault | None
) -> web.StreamResponse:
    """Answer from the tape and from nothing else; what it does not hold is a miss."""
    if fault is not None:
        broken = await _broken(incoming, tape, capture, fault)
        if broken is not None:
            return broken
    request = capture.request
    if incoming.route.spec.mode is Mode.STALE:
        exchange = tape.play_like(request, incoming.dialect.conversation)
    else:
        exchange = tape.play(request.key)
    if exchange is None:
        return missed(incoming, capture)
    return await _play(incoming, capture, exchange)


async def top_up(
    incoming: Incoming, tape: ReplayTape, capture: Capture, fault: Fault | None
) -> web.StreamResponse | None:
    """Answer from the tape as far as it goes; None when the model must be asked."""
    if fault is not None:
        broken = await _broken(incoming, tape, capture, fault)
        if broken is not None:
            return broken
    exchange = tape.play(capture.request.key)
    if exchange is None:
        return None
    return await _play(incoming, capture, exchange)


def missed(incoming: Incoming, capture: Capture) -> web.Response:
    """Answer that nothing was recorded for this request: the trial has diverged."""
    miss = incoming.route.miss(capture.request, explain)
    return incoming.plain(HTTPStatus.BAD_REQUEST, f"replay diverged: {miss.sentence}")


async def _broken(
    incoming: Incoming, tape: ReplayTape, capture: Capture, fault: Fault
) -> web.StreamResponse | None:
    # Looked at and left: whoever asks again gets it whole.
    exchange = tape.peek(capture.request.key)
    bad = None if exchange is None else _spoiled(incoming, exchange, fault)
    if exchange is None or bad is None:
        return None
    incoming.fire(fault)
    _put(capture, exchange, _moved(incoming, exchange))
    return await break_off(incoming.request, capture, bad.body, whole=bad.whole)


async def _play(incoming: Incoming, capture: Capture, exchange: Exchange) -> web.StreamResponse:
    body = _moved(incoming, exchange)
    incoming.play(exchange, body)
    # The witness of a replay is what was recorded, also when this agent is gone already.
    capture.store = None
    _put(capture, exchange, body)
    return await respond(
        incoming.request, capture, cuts=exchange.cuts, pace=incoming.route.spec.pace
    )


def _put(capture: Capture, exchange: Exchange, body: bytes) -> None:
    capture.status = exchange.status
    capture.headers = exchange.headers
    capture.body += body
    capture.ending = exchange.ending


def _moved(incoming: Incoming, exchange: Exchange) -> bytes:
    route = incoming.route
    return moved_body(exchange.body, route.recorded_places, route.spec.places)


def _spoiled(incoming: Incoming, exchange: Exchange, fault: Fault) -> Spoiled | None:
    if not can_spoil(exchange.status, exchange.ending):
        return None
    return spoiled(_moved(incoming, exchange), fault, incoming.dialect)

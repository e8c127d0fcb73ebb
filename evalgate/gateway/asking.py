"""A request sent to its model: refused beyond the limits, relayed, and spoiled on purpose."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from http import HTTPStatus

import aiohttp
from aiohttp import web

from evalgate.core.exchange import Ending
from evalgate.core.faults import Fault
from evalgate.gateway.capture import Capture
from evalgate.gateway.faults import can_spoil, spoiled
from evalgate.gateway.incoming import Incoming
from evalgate.gateway.reading import parse
from evalgate.gateway.relay import begin, break_off, read_whole, relay, respond
from evalgate.gateway.upstream import Upstream, choose_upstream, send
from evalgate.gateway.veil import Veil
from evalgate.gateway.witness.witness import Refusal


async def ask_model(
    incoming: Incoming,
    capture: Capture,
    body: bytes,
    fault: Fault | None,
    session: Callable[[], aiohttp.ClientSession],
) -> web.StreamResponse:
    """Send a request to the model it names, unless a limit or the configuration forbids it."""
    route, bill = incoming.route, incoming.bill
    refused = route.admit(incoming.slot, bill=bill)
    if refused is not None:
        return await incoming.refuse(capture, refused[0], HTTPStatus.BAD_REQUEST, refused[1])
    upstream = choose_upstream(route.spec.upstreams, bill.model, incoming.dialect, turn=bill.turn)
    if isinstance(upstream, str):
        no_object = bill.turn and bill.model is None and not isinstance(parse(body), dict)
        message = f"evalgate: {'the body is no JSON object' if no_object else upstream}"
        return await incoming.refuse(capture, Refusal.MODEL, HTTPStatus.BAD_REQUEST, message)
    try:
        return await _send_on(incoming, capture, upstream, body, fault, session())
    except (aiohttp.ClientError, TimeoutError) as error:
        # Neither agent nor cassette may learn a URL: it may hold a password or a hidden host.
        named = f"model {bill.model}" if bill.model else "the model's provider"
        message = f"evalgate: {named} can not be reached: {words_of(error)}"
        return await incoming.refuse(capture, Refusal.UNREACHABLE, HTTPStatus.BAD_GATEWAY, message)


def words_of(error: BaseException) -> str:
    """Name an error without its own text, which names hosts and URLs."""
    name = type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    return f"{name} ({os.strerror(number)})" if number is not None and number > 0 else name


async def _send_on(
    incoming: Incoming,
    capture: Capture,
    upstream: Upstream,
    body: bytes,
    fault: Fault | None,
    session: aiohttp.ClientSession,
) -> web.StreamResponse:
    try:
        answer = await send(
            session,
            upstream,
            method=incoming.request.method,
            target=incoming.target(),
            headers=incoming.request.headers,
            body=body,
        )
        veil = Veil(upstream.key, incoming.route.redactor.text(upstream.key or ""))
        async with answer:
            if fault is not None:
                return await _spoil(incoming, fault, capture, answer, veil)
            return await relay(incoming.request, answer, capture, veil)
    except asyncio.CancelledError:
        capture.keep(Ending.CLIENT_GONE)
        raise


async def _spoil(
    incoming: Incoming,
    fault: Fault,
    capture: Capture,
    answer: aiohttp.ClientResponse,
    veil: Veil,
) -> web.StreamResponse:
    """Spoil a reply that was paid for, and hold it for whoever asks the same again."""
    begin(answer, capture)
    await read_whole(answer, capture, veil)
    bad = None
    if can_spoil(capture.status, capture.ending):
        bad = spoiled(bytes(capture.body), fault, incoming.dialect)
    if bad is None:
        return await respond(incoming.request, capture)
    incoming.fire(fault)
    incoming.hold(capture)
    return await break_off(incoming.request, capture, bad.body, whole=bad.whole)

"""A live answer: the provider's bytes go to the agent as they come, and are kept."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

import aiohttp
from aiohttp import HttpVersion11, web

from evalgate.core.exchange import Ending
from evalgate.gateway.capture import Capture
from evalgate.gateway.upstream import returned
from evalgate.gateway.veil import Veil

_JSON = "application/json"
_GONE = "the agent has closed the connection"

#: To linger for no time: what is not sent yet is thrown away, and a reset takes its place.
_AT_ONCE: Final = struct.pack("ii", 1, 0)


async def relay(
    request: web.Request, answer: aiohttp.ClientResponse, capture: Capture, veil: Veil
) -> web.StreamResponse:
    """Pass a response on, the first byte at once when it is a stream.

    JSON is passed on in one piece: nobody reads half of it. A response that breaks off is cut
    for the agent as well.
    """
    begin(answer, capture)
    if answer.content_type == _JSON:
        await read_whole(answer, capture, veil)
        return await respond(request, capture)
    response = _stream(request, capture)
    try:
        await response.prepare(request)
        await _pass_pieces(request, response, answer, capture, veil)
    except ConnectionError:
        capture.keep(Ending.CLIENT_GONE)
    if capture.ending is not Ending.COMPLETE:
        cut(request)
    return response


def begin(answer: aiohttp.ClientResponse, capture: Capture) -> None:
    """Take the head of a response."""
    capture.status = answer.status
    capture.headers = returned(answer.headers.items())


async def respond(
    request: web.Request,
    capture: Capture,
    *,
    cuts: Sequence[tuple[int, int]] = (),
    pace: float = 0.0,
) -> web.StreamResponse:
    """Keep and send what was captured, whole, or cut where it was cut.

    With a ``pace`` above 0 it goes in pieces as ``cuts`` says (bytes, and milliseconds since the
    request), that many times as fast.
    """
    capture.keep()
    body = bytes(capture.body)
    if pace > 0 and cuts and sum(size for size, _ in cuts) == len(body):
        return await _paced(request, capture, cuts, pace)
    if capture.ending is Ending.COMPLETE:
        response: web.StreamResponse = web.Response(
            status=capture.status, headers=capture.headers, body=body
        )
        return await _sent(request, response, capture)
    if not capture.status:
        # The agent left before the provider had answered anything.
        cut(request)
        return web.Response()
    response = _stream(request, capture)
    try:
        await response.prepare(request)
        if body:
            await response.write(body)
    except ConnectionError:
        capture.keep(Ending.CLIENT_GONE)
    cut(request)
    return response


async def _paced(
    request: web.Request, capture: Capture, cuts: Sequence[tuple[int, int]], pace: float
) -> web.StreamResponse:
    response = _stream(request, capture)
    body, sent = bytes(capture.body), 0
    try:
        await response.prepare(request)
        for size, milliseconds in cuts:
            await asyncio.sleep(
                max(0.0, capture.started + milliseconds / pace / 1000 - monotonic())
            )
            await response.write(body[sent : sent + size])
            sent += size
        if capture.ending is Ending.COMPLETE:
            await response.write_eof()
            return response
    except ConnectionError:
        capture.keep(Ending.CLIENT_GONE)
    cut(request)
    return response


async def break_off(
    request: web.Request, capture: Capture, body: bytes, *, whole: bool
) -> web.StreamResponse:
    """Send another body under the head of a captured response, and keep nothing."""
    response = _stream(request, capture)
    try:
        await response.prepare(request)
        if body:
            await response.write(body)
        if whole:
            await response.write_eof()
            return response
    except ConnectionError:
        pass
    cut(request)
    return response


def cut(request: web.Request) -> None:
    """End the connection without the end of the response.

    For a client of HTTP/1.0 an end like any other would be the end of a whole response.
    """
    if request.version < HttpVersion11:
        reset(request)
    elif request.transport is not None:
        request.transport.close()


def reset(request: web.Request) -> None:
    """Reset the connection: the client gets an error, whatever it has read."""
    if request.transport is None:
        return
    connection = request.transport.get_extra_info("socket")
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    request.transport.abort()


def gone(request: web.Request) -> bool:
    """Tell whether the agent has closed the connection."""
    return request.transport is None or request.transport.is_closing()


def _stream(request: web.Request, capture: Capture) -> web.StreamResponse:
    response = web.StreamResponse(status=capture.status, headers=capture.headers)
    if request.version >= HttpVersion11:
        response.enable_chunked_encoding()
    return response


async def _sent(
    request: web.Request, response: web.StreamResponse, capture: Capture
) -> web.StreamResponse:
    try:
        if gone(request):
            raise ConnectionResetError(_GONE)
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        capture.keep(Ending.CLIENT_GONE)
    return response


async def read_whole(answer: aiohttp.ClientResponse, capture: Capture, veil: Veil) -> None:
    """Take all of a response before any of it is passed on."""
    while chunk := await _next(answer, capture):
        capture.take(veil.pass_on(chunk))
    capture.take(veil.rest())


async def _pass_pieces(
    request: web.Request,
    response: web.StreamResponse,
    answer: aiohttp.ClientResponse,
    capture: Capture,
    veil: Veil,
) -> None:
    while chunk := await _next(answer, capture):
        await _write(request, response, capture, veil.pass_on(chunk))
    await _write(request, response, capture, veil.rest())
    capture.keep()
    if capture.ending is Ending.COMPLETE:
        await response.write_eof()


async def _next(answer: aiohttp.ClientResponse, capture: Capture) -> bytes:
    """Return what has come, or nothing at the end, be it the right one or not."""
    try:
        return await answer.content.readany()
    except (aiohttp.ClientError, ConnectionError, TimeoutError):
        capture.ending = Ending.UPSTREAM_CUT
        return b""


async def _write(
    request: web.Request, response: web.StreamResponse, capture: Capture, piece: bytes
) -> None:
    if not piece:
        return
    capture.take(piece)
    if gone(request):
        raise ConnectionResetError(_GONE)
    await response.write(piece)

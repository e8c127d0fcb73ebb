"""A live answer: the provider's bytes go to the agent as they come, and are kept."""

from __future__ import annotations

import aiohttp
from aiohttp import HttpVersion11, web

from evalgate.core.exchange import Ending
from evalgate.gateway.capture import Capture
from evalgate.gateway.upstream import returned
from evalgate.gateway.veil import Veil

_JSON = "application/json"
_GONE = "the agent has closed the connection"


async def relay(
    request: web.Request, answer: aiohttp.ClientResponse, capture: Capture, veil: Veil
) -> web.StreamResponse:
    """Pass a response on, the first byte at once when it is a stream.

    JSON is passed on in one piece: nobody reads half of it. A response that breaks off is cut
    for the agent as well.
    """
    capture.status = answer.status
    capture.headers = returned(answer.headers.items())
    if answer.content_type == _JSON:
        await _read_whole(answer, capture, veil)
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


async def respond(request: web.Request, capture: Capture) -> web.StreamResponse:
    """Keep and send what was captured, whole, or cut where it was cut."""
    capture.keep()
    body = bytes(capture.body)
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


def cut(request: web.Request) -> None:
    """End the connection without the end of the response."""
    if request.transport is not None:
        request.transport.close()


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


async def _read_whole(answer: aiohttp.ClientResponse, capture: Capture, veil: Veil) -> None:
    while chunk := await _next(answer, capture):
        capture.body += veil.pass_on(chunk)
    capture.body += veil.rest()


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
    capture.body += piece
    if gone(request):
        raise ConnectionResetError(_GONE)
    await response.write(piece)

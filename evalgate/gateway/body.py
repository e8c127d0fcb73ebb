"""The body of a request, read whole: decompressed, within a size, within a time.

The server's own decompression is off: it answers a bad encoding in a shape no client of a model
API reads, and does not know zstd or br without packages it treats as optional.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final, Protocol

import aiohttp
from aiohttp import web

#: Larger than any provider takes; what is more, on the wire or unpacked, is refused.
MAX_BODY: Final = 64 << 20

#: How much is unpacked at once, so that a large body does not hold up other trials.
_PIECE: Final = 1 << 20


class BodyError(Exception):
    """A body that is not taken: the status and the words of the answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class ClientLeftError(Exception):
    """The client was gone before its request had arrived: nobody is left to answer."""


class _Decoder(Protocol):
    """Unpacks a stream; ``take`` yields pieces of `_PIECE` bytes or so."""

    def take(self, data: bytes) -> Iterator[bytes]: ...

    def whole(self) -> bool: ...


async def read_body(request: web.Request, *, seconds: float) -> bytes:
    """Return the body, decompressed, at most `MAX_BODY` bytes that came in ``seconds``.

    Raises BodyError with 413 (too large, also unpacked), 400 (an encoding that is unknown or
    damaged) or 408 (too slow), and ClientLeftError.
    """
    if request.content_length is not None and request.content_length > MAX_BODY:
        raise _too_large()
    try:
        async with asyncio.timeout(seconds):
            return await _read(request, _decoder(request))
    except TimeoutError:
        message = f"evalgate: the request did not arrive whole within {seconds:g} s"
        raise BodyError(HTTPStatus.REQUEST_TIMEOUT, message) from None
    except (aiohttp.ClientError, web.RequestPayloadError, ConnectionError) as error:
        raise ClientLeftError from error


async def _read(request: web.Request, decoder: _Decoder | None) -> bytes:
    body = bytearray()
    came = 0
    while chunk := await request.content.readany():
        came += len(chunk)
        if came > MAX_BODY:
            raise _too_large()
        for piece in (chunk,) if decoder is None else decoder.take(chunk):
            body += piece
            if len(body) > MAX_BODY:
                raise _too_large()
            if decoder is not None:
                await asyncio.sleep(0)
    if came and decoder is not None and not decoder.whole():
        raise _damaged("it ends too early")
    return bytes(body)


def _decoder(request: web.Request) -> _Decoder | None:
    """Return what undoes the encoding, None when there is none."""
    # Several on top of one another are refused: no client does that, and what the outer one
    # unpacks could be without an end before the inner one says anything.
    named = request.headers.getall("content-encoding", [])
    names = [name.strip().lower() for value in named for name in value.split(",")]
    kinds = [name for name in names if name not in {"", "identity"}]
    if not kinds:
        return None
    if len(kinds) > 1 or kinds[0] not in _DECODERS:
        shown = ", ".join(kinds)[:80]
        message = f"evalgate: content-encoding {shown!r} is not one of {', '.join(_DECODERS)}"
        raise BodyError(HTTPStatus.BAD_REQUEST, message)
    return _DECODERS[kinds[0]]()


class _Zlib:
    """gzip, with as many members as there are, or deflate with and without its header."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._engine = zlib.decompressobj(16 + zlib.MAX_WBITS) if gzip else None

    def take(self, data: bytes) -> Iterator[bytes]:
        """Yield what is in it."""
        while data:
            engine = self._engine = self._engine or self._begin(data)
            try:
                piece = engine.decompress(data, _PIECE)
            except zlib.error as error:
                raise _damaged(str(error)) from error
            if piece:
                yield piece
            data = engine.unconsumed_tail
            if engine.eof:
                data = engine.unused_data
                self._next(data)

    def whole(self) -> bool:
        """Tell whether the end has come."""
        return self._engine is None or self._engine.eof

    def _next(self, rest: bytes) -> None:
        if rest and not self._gzip:
            raise _damaged("there is more after its end")
        if rest:
            self._engine = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def _begin(self, data: bytes) -> zlib._Decompress:
        # Some clients leave the header out, although "deflate" means the form with it.
        raw = data[0] & 0x0F != zlib.DEFLATED
        return zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS)


class _Brotli:
    """br."""

    def __init__(self) -> None:
        import brotli  # noqa: PLC0415 - next to no client sends it

        self._error = brotli.error
        self._engine = brotli.Decompressor()

    def take(self, data: bytes) -> Iterator[bytes]:
        """Yield what is in it."""
        try:
            if self._engine.is_finished() and data:
                raise _damaged("there is more after its end")
            while True:
                piece = self._engine.process(data, output_buffer_limit=_PIECE)
                data = b""
                if piece:
                    yield piece
                if self._engine.is_finished() or (not piece and self._takes_more()):
                    return
        except self._error as error:
            raise _damaged(str(error)) from error

    def whole(self) -> bool:
        """Tell whether the end has come."""
        return bool(self._engine.is_finished())

    def _takes_more(self) -> bool:
        return bool(self._engine.can_accept_more_data())


class _Zstd:
    """zstd, with as many frames as there are."""

    def __init__(self) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - next to no client sends it
        else:
            from backports import zstd  # noqa: PLC0415

        self._begin = zstd.ZstdDecompressor
        self._error = zstd.ZstdError
        self._engine = self._begin()

    def take(self, data: bytes) -> Iterator[bytes]:
        """Yield what is in it."""
        try:
            while data or not (self._engine.needs_input or self._engine.eof):
                if self._engine.eof:
                    self._engine = self._begin()
                piece = self._engine.decompress(data, _PIECE)
                data = self._engine.unused_data if self._engine.eof else b""
                if piece:
                    yield piece
        except self._error as error:
            raise _damaged(str(error)) from error

    def whole(self) -> bool:
        """Tell whether the end has come."""
        return bool(self._engine.eof)


_DECODERS: Final[dict[str, Callable[[], _Decoder]]] = {
    "gzip": lambda: _Zlib(gzip=True),
    "x-gzip": lambda: _Zlib(gzip=True),
    "deflate": lambda: _Zlib(gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}


def _too_large() -> BodyError:
    message = f"evalgate: a request of more than {MAX_BODY >> 20} MiB is not taken"
    return BodyError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)


def _damaged(what: str) -> BodyError:
    message = f"evalgate: the compressed body is damaged: {what}"
    return BodyError(HTTPStatus.BAD_REQUEST, message)

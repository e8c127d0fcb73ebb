"""An HTTP server on a free port of the loopback, with an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, TypeVar

from aiohttp import web

_BACKLOG: Final = 1024

#: The most bytes of a request line, and of a header.
_LONGEST: Final = 64 * 1024

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_T = TypeVar("_T")


class Loopback:
    """Gives every request to one handler; ``port`` is 0 until it is open.

    What is no HTTP, or has a longer line or header than 64 KiB, is answered with 400.
    """

    def __init__(
        self,
        answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
        *,
        name: str,
        max_size: int,
        grace: float,
        decompresses: bool = True,
        closing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Prepare a server that is not open yet.

        ``name`` is that of its thread, ``max_size`` the most bytes of a body, ``grace`` the
        seconds that requests on their way have at the end; ``closing`` is awaited after them.
        """
        self._loop = asyncio.new_event_loop()
        self._closing = closing

        make: Any = partial(web.Request, loop=self._loop, client_max_size=max_size)

        async def whatever(request: Any) -> web.StreamResponse:
            if request.headers.get("expect", "").lower() == "100-continue":
                await request.writer.write(_CONTINUE)
                request.writer.output_size = 0  # this is no part of the answer
            return await answer(request)

        # No routes: they would answer some paths in words of their own, such as those with line
        # ends, and take their part of every request's time.
        server = web.Server(
            whatever,
            request_factory=make,
            loop=self._loop,
            access_log=None,
            auto_decompress=decompresses,
            max_line_size=_LONGEST,
            max_field_size=_LONGEST,
            logger=_silent(name),
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=grace)
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self.port = 0

    @property
    def running(self) -> bool:
        """Tell whether its loop can be called."""
        return self._loop.is_running()

    def open(self) -> None:
        """Start the thread and listen; where that fails, nothing is left of it."""
        with ExitStack() as undo:
            undo.callback(self._loop.close)
            self._thread.start()
            undo.callback(self._stop)
            undo.callback(lambda: self.call(self._runner.cleanup()))
            self.call(self._listen())
            undo.pop_all()

    def close(self) -> None:
        """Close what is open and end the thread, which ends also where something will not close."""
        with ExitStack() as undo:
            undo.callback(self._loop.close)
            undo.callback(self._stop)
            self.call(self._end())

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def call(self, work: Coroutine[object, object, _T]) -> _T:
        """Run something on the loop, from another thread, and return what it gives."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _end(self) -> None:
        await self._runner.cleanup()
        if self._closing is not None:
            await self._closing()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        await self._runner.setup()
        # Made here, not by asyncio, which keeps to itself why there is none.
        with ExitStack() as undo:
            door = undo.enter_context(socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG))
            await web.SockSite(self._runner, door, backlog=_BACKLOG).start()
            undo.pop_all()
        self.port = int(door.getsockname()[1])


def _silent(name: str) -> logging.Logger:
    """Return a logger that tells nobody: a traceback would show the path, and that a token."""
    logger = logging.Logger(name)  # noqa: LOG001 - one of the process is others' as well
    logger.disabled = True
    return logger

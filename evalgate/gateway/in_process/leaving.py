"""Requests of tasks that are cancelled: recorded as left, and waited for in a replay likewise.

A program that asks twice and takes the first answer, or waits for so long only, must meet the
same again: whoever was cancelled while it waited waits until it is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from typing import Any, Final

from evalgate.gateway.in_process.asked import Asked

#: Where the libraries that VCR.py patches ask in a task.
_WAYS: Final = (
    ("aiohttp", "ClientSession", "_request"),
    ("httpx", "AsyncHTTPTransport", "handle_async_request"),
    ("httpx2", "AsyncHTTPTransport", "handle_async_request"),
)

#: How many seconds longer than in the recording a task may wait to be cancelled.
_PATIENCE: Final = 10.0

#: What was asked in one call of a client.
_ASKED: Final[ContextVar[list[Asked] | None]] = ContextVar("evalgate_asked", default=None)


class LeftError(TimeoutError):
    """Nobody waited for the answer when it was recorded: who waits for it now, waits too long."""

    def __init__(self, seconds: float) -> None:
        """Say for how long it was waited for."""
        super().__init__(f"evalgate.vcr: the recording was left here after {seconds:g} s")
        self.seconds = seconds


def note(request: Asked) -> None:
    """Say that a request is about to be sent."""
    asked = _ASKED.get()
    if asked is not None:
        asked.append(request)


@contextmanager
def leaving(
    patched: Callable[[object, str, object], Any], leave: Callable[[Asked], None]
) -> Iterator[None]:
    """Tell of requests that are left, while the context lasts; ``patched`` sets an attribute."""
    with ExitStack() as stack:
        for module, name, method in _WAYS:
            with suppress(ImportError):
                holder = getattr(import_module(module), name)
                stack.enter_context(patched(holder, method, _way(vars(holder)[method], leave)))
        yield


def _way(
    way: Callable[..., Awaitable[object]], leave: Callable[[Asked], None]
) -> Callable[..., Awaitable[object]]:
    @wraps(way)
    async def ask(self: object, *args: Any, **kwargs: Any) -> object:
        asked: list[Asked] = []
        before = _ASKED.set(asked)
        try:
            return await way(self, *args, **kwargs)
        except asyncio.CancelledError:
            for request in asked:
                leave(request)
            raise
        except LeftError as error:
            await asyncio.sleep(error.seconds + _PATIENCE)
            raise
        finally:
            _ASKED.reset(before)

    return ask

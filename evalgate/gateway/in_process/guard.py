"""The second wall of a replay: an HTTP library can not send what VCR.py's patches do not see.

A client that made its connection before the context holds the real one; a class of its own that
builds on a real one is not patched either. Only HTTP is looked at, and what goes to a local
socket file is let through: databases and containers are not the model.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from importlib import import_module
from typing import Any, Final, Protocol

from evalgate.errors import DivergedError
from evalgate.gateway.in_process.patches import put, real

#: Where the libraries that VCR.py patches open connections, and send.
_WAYS_OUT: Final = (
    ("http.client", "HTTPConnection", "connect"),
    ("http.client", "HTTPConnection", "send"),
    ("urllib3.connection", "HTTPConnection", "connect"),
    ("urllib3.connection", "HTTPSConnection", "connect"),
    ("httpcore", "ConnectionPool", "handle_request"),
    ("httpcore", "AsyncConnectionPool", "handle_async_request"),
    ("httpcore2", "ConnectionPool", "handle_request"),
    ("httpcore2", "AsyncConnectionPool", "handle_async_request"),
    ("aiohttp", "BaseConnector", "connect"),
)
_HINT: Final = "make the client, and its connections, inside of use_cassette"

#: Whether each context that is open lets nothing out, the innermost last.
_shut: Final[list[bool]] = []


class Refuse(Protocol):
    """Makes an error of a sentence, and keeps it."""

    def __call__(self, sentence: str, *, hint: str) -> DivergedError:
        """Return it."""
        ...


@contextmanager
def guarded(refuse: Refuse) -> Iterator[None]:
    """Refuse to send while the context lasts, unless one inside of it records."""
    with ExitStack() as stack:
        for module, name, method in _WAYS_OUT:
            with suppress(ImportError):
                holder = real(getattr(import_module(module), name))
                way = _guard(vars(holder)[method], refuse)
                stack.enter_context(put(holder, method, way))
        stack.enter_context(_standing(shut=True))
        yield


@contextmanager
def unguarded() -> Iterator[None]:
    """Let out what is sent while the context lasts, also inside of one that is guarded."""
    with _standing(shut=False):
        yield


@contextmanager
def _standing(*, shut: bool) -> Iterator[None]:
    _shut.append(shut)
    try:
        yield
    finally:
        _shut.pop()


def _guard(way: Callable[..., Any], refuse: Refuse) -> Callable[..., Any]:
    @wraps(way)
    def stop(self: object, *args: Any, **kwargs: Any) -> Any:
        if _shut[-1:] != [True]:
            return way(self, *args, **kwargs)
        if way.__name__ == "send" and _local(self):
            return way(self, *args, **kwargs)
        host = getattr(self, "host", None)
        where = f" to {host}" if isinstance(host, str) else ""
        sentence = f"a request{where} that VCR.py does not see was stopped"
        raise refuse(sentence, hint=_HINT)

    return stop


def _local(connection: Any) -> bool:
    """Whether a connection leads to a socket file: a class of its own opens it, ours is stopped."""
    if connection.sock is None and connection.auto_open:
        connection.connect()
    return getattr(connection.sock, "family", None) == socket.AF_UNIX

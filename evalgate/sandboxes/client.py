"""Asking the sandbox of a trial for something, from an agent on the host."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evalgate.errors import InterruptedRunError, NotAvailableError, UsageError
from evalgate.sandboxes.toolanswer import ToolAnswer
from evalgate.sandboxes.toolrequest import ToolRequest

#: The variable that tells an agent where its sandbox is reached.
SANDBOX: Final = "EVALGATE_SANDBOX"


#: A request or an answer is no longer: a file of 16 MiB in base64, and a little beside.
LONGEST: Final = 24 << 20
#: No address of a unix socket is longer.
_ADDRESS: Final = 107


@contextlib.contextmanager
def addressed(path: str) -> Iterator[str]:
    """Give a path as an address of a socket: a longer one by way of its open directory."""
    place = Path(path)
    if len(os.fsencode(path)) <= _ADDRESS:
        yield path
        return
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{place.name}"
    finally:
        os.close(folder)


class Cancellation:
    """Lets a request be given up from another thread: what it asked for is ended inside."""

    def __init__(self) -> None:
        self.wanted = False
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None

    def cancel(self) -> None:
        """Give the request up, before it is sent or after."""
        with self._lock:
            self.wanted = True
            self._hang_up()

    def watch(self, connection: socket.socket | None) -> None:
        """Hang up on this connection once the request is given up; on none when it is over."""
        with self._lock:
            self._connection = connection
            if self.wanted:
                self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)


class Client:
    """Asks at a unix socket, each time on a connection of its own.

    So requests may be made from several threads, and one that is given up is ended inside.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Client:
        """Return the client of the trial that this process belongs to.

        Raises:
            UsageError: it belongs to none.
        """
        path = environ.get(SANDBOX, "")
        if not path:
            raise UsageError(
                f"there is no sandbox here: {SANDBOX} is not set",
                hint="an agent that a trial runs finds it set"
                ' with agent.placement = "host" in the configuration',
            )
        return cls(path)

    def ask(self, request: ToolRequest, cancellation: Cancellation | None = None) -> ToolAnswer:
        """Send a request and wait for its answer.

        Raises:
            NotAvailableError: the sandbox is gone, or the request was given up.
            UsageError: it could not do it, with its reason.
            InterruptedRunError: the one who waits was interrupted.
        """
        line = json.dumps(request.dump()).encode() + b"\n"
        if len(line) > LONGEST:
            raise UsageError(
                f"{len(line) >> 20} MiB are more than is sent at once",
                hint="16 MiB of a file are",
            )
        try:
            with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
                with addressed(self._path) as address:
                    connection.connect(address)
                watching = cancellation or Cancellation()
                watching.watch(connection)
                try:
                    connection.sendall(line)
                    with connection.makefile("rb") as stream:
                        line = stream.readline()
                finally:
                    watching.watch(None)
        except KeyboardInterrupt as error:
            raise InterruptedRunError(
                "interrupted", hint="what was asked is ended in the sandbox too"
            ) from error
        except OSError as error:
            raise _gone(str(error.strerror or error)) from error
        if not line:
            raise _gone("it hung up")
        try:
            answer = ToolAnswer.load(json.loads(line))
        except (ValueError, AttributeError, RecursionError) as error:
            raise _gone("it said no whole answer") from error
        if answer.error:
            raise UsageError(answer.error)
        return answer


def _gone(reason: str) -> NotAvailableError:
    return NotAvailableError(
        f"the sandbox can not be reached: {reason}", hint="it ends together with its trial"
    )

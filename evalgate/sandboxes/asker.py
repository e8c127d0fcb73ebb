"""Who asks a sandbox for something: one connection of an agent on the host to its tools."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

#: Milliseconds after which is looked again whether an answer is waited for.
_LOOK: Final = 50


def line_of(document: Mapping[str, Any]) -> bytes:
    """Return a document as it is sent: JSON, one a line."""
    return json.dumps(document).encode() + b"\n"


class Asker:
    """One connection, and the numbers of the answers it waits for.

    Saying an answer never waits for the agent to read it: others wait for theirs.
    """

    def __init__(self, connection: socket.socket) -> None:
        """Answer on a connection."""
        self.connection = connection
        self.waiting: set[int] = set()
        self._lock = threading.Lock()
        self._unsent: deque[tuple[bytes, int]] = deque()
        self._writer: threading.Thread | None = None

    def say(self, document: Mapping[str, Any], number: int = 0) -> None:
        """Send an answer; it may be that nobody listens any more."""
        data = line_of(document)
        with self._lock:
            if self._writer is None:
                sent = self._sent_at_once(data)
                if sent == len(data):
                    self.waiting.discard(number)
                    return
                data = data[sent:]
                self._writer = threading.Thread(target=self._write, name="tools-say", daemon=True)
                try:
                    self._writer.start()
                except RuntimeError:  # as many threads run as may
                    self._hang_up()
            self._unsent.append((data, number))

    def hung_up(self) -> bool:
        """Wait until all is answered, or the other end is gone: tell whether it is.

        One that has only said all still listens.
        """
        poll = select.poll()
        poll.register(self.connection, 0)
        while self.waiting:
            if poll.poll(_LOOK):
                return True
        return False

    def close(self) -> None:
        """End the connection."""
        self._hang_up()
        with self._lock:
            writer = self._writer
        if writer is not None and writer.ident is not None:
            writer.join()
        self.connection.close()

    def _sent_at_once(self, data: bytes) -> int:
        try:
            return self.connection.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def _write(self) -> None:
        """Send what the agent was too slow for, in order; once it is gone, nothing more."""
        with contextlib.suppress(OSError):
            while True:
                with self._lock:
                    if not self._unsent:
                        self._writer = None
                        return
                    data, number = self._unsent.popleft()
                self.connection.sendall(data)
                self.waiting.discard(number)

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

"""The host's end of a tunnel: one port of the loopback, reached from inside a sandbox.

The other end is `inside/forward.py`. Each connection there becomes one here, to that port and
to nothing else.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_HEAD: Final = struct.Struct(">II")
_CHUNK: Final = 1 << 16
#: Nothing that `forward` sends is longer.
_LONGEST: Final = 1 << 20
#: In place of a length: the connection was not ended but reset.
_RESET: Final = 0xFFFFFFFF
_LAST_WORDS: Final = 1.0
#: More than any agent opens at once.
_MOST: Final = 256


@dataclass(slots=True)
class Carried:
    """A port that is carried: the other end's standard input, None where nothing is."""

    stdin: int | None = None
    tunnel: Tunnel | None = None

    @property
    def trouble(self) -> str:
        """Why the program could not be run, as the other end said."""
        return "" if self.tunnel is None else self.tunnel.trouble


@contextlib.contextmanager
def open_tunnel(port: int | None) -> Iterator[Carried]:
    """Carry a port of the host's loopback over a socket, if there is one to be carried."""
    if port is None:
        yield Carried()
        return
    here, there = socket.socketpair()
    tunnel = Tunnel(port, here.sendall)

    def listen() -> None:
        with contextlib.suppress(OSError):
            while chunk := here.recv(_CHUNK):
                tunnel.feed(chunk)

    thread = threading.Thread(target=listen, name="tunnel", daemon=True)
    thread.start()
    with contextlib.closing(here):
        try:
            with contextlib.closing(there):
                yield Carried(there.fileno(), tunnel)
            # The last words are there once all others have let go.
            thread.join(_LAST_WORDS)
        finally:
            with contextlib.suppress(OSError):
                here.shutdown(socket.SHUT_RDWR)
            tunnel.close()
            thread.join()


class Tunnel:
    """Carries frames between a stream out of a sandbox and connections to one port."""

    def __init__(self, port: int, send: Callable[[bytes], object]) -> None:
        """Connect to ``port``; ``send`` writes all of some bytes towards the sandbox."""
        self._port = port
        self._send = send
        self._lock = threading.Lock()
        self._held = bytearray()
        self._opening = threading.Lock()
        self._open: dict[int, socket.socket] = {}
        self._carrying: dict[int, threading.Thread] = {}
        self._last = 0
        self._broken = self._begun = False
        #: Why the program could not be run, as the other end says.
        self.trouble = ""

    def feed(self, data: bytes) -> None:
        """Take bytes out of the sandbox; what is no frame ends the tunnel, never the host."""
        self._held += data
        while len(self._held) >= _HEAD.size and not self._broken:
            number, length = _HEAD.unpack_from(self._held)
            if length == _RESET:
                self._reset(number)
                del self._held[: _HEAD.size]
            elif length > _LONGEST:
                self._break()
            elif len(self._held) < _HEAD.size + length:
                return
            else:
                self._deliver(number, bytes(self._held[_HEAD.size : _HEAD.size + length]))
                del self._held[: _HEAD.size + length]

    def close(self) -> None:
        """End all connections, and open none any more; nothing is sent after it.

        What is sent to has to be ended before: who sends might wait for it.
        """
        self._break()
        for thread in list(self._carrying.values()):
            thread.join()

    def _break(self) -> None:
        with self._opening:
            self._broken = True
            for connection in list(self._open.values()):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _deliver(self, number: int, chunk: bytes) -> None:
        connection = self._open.get(number)
        try:
            if number == 0:
                # Who has begun can be run: whatever else is said then, the program says it.
                self._begun = self._begun or not chunk or self._last > 0
                self.trouble = "" if self._begun else chunk.decode("utf-8", "replace")
            elif number > self._last:
                self._last = number
                if len(self._open) < _MOST:
                    self._connect(number)
                else:
                    self._say(number, b"")
            elif connection is None:
                return
            elif chunk:
                connection.sendall(chunk)
            else:
                connection.shutdown(socket.SHUT_WR)
        except (OSError, RuntimeError):  # the latter when no thread can be started
            self._say(number, b"")

    def _connect(self, number: int) -> None:
        connection = socket.create_connection(("127.0.0.1", self._port))
        with contextlib.ExitStack() as stack:
            stack.enter_context(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            name, words = f"tunnel-{number}", (number, connection)
            thread = threading.Thread(target=self._carry, args=words, name=name, daemon=True)
            with self._opening:
                if self._broken:
                    return
                thread.start()
                self._open[number], self._carrying[number] = connection, thread
            stack.pop_all()

    def _carry(self, number: int, connection: socket.socket) -> None:
        """Carry what the port says on one connection, and its end."""
        chunk = b" "
        while chunk:
            try:
                chunk = connection.recv(_CHUNK)
            except OSError:
                self._tell(_HEAD.pack(number, _RESET))
                break
            self._say(number, chunk)
        with self._opening:
            self._open.pop(number, None)
            self._carrying.pop(number, None)
        connection.close()

    def _reset(self, number: int) -> None:
        connection = self._open.get(number)
        if connection is not None:
            with contextlib.suppress(OSError):
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.shutdown(socket.SHUT_RD)  # who reads from it closes it

    def _say(self, number: int, chunk: bytes) -> None:
        self._tell(_HEAD.pack(number, len(chunk)) + chunk)

    def _tell(self, frame: bytes) -> None:
        with contextlib.suppress(OSError), self._lock:
            self._send(frame)

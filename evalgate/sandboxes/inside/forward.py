"""Inside a sandbox: one port of the loopback, carried over the standard streams.

Run as ``python3 forward.py PORT PROGRAM WORD...``: it listens, runs the program, and ends with
its exit code. A frame is the number of a connection and a length (two 32-bit words), then so
many bytes. Without bytes the first frame of a number opens it, a later one ends a direction;
number 0 says why the program could not be run, or nothing once it runs. A socket as standard
input carries both ways. Nothing here imports evalgate.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
import threading
import time

HEAD = struct.Struct(">II")
CHUNK = 1 << 16
#: In place of a length: the connection was not ended but reset.
RESET = 0xFFFFFFFF
#: Seconds until it is tried again to take a connection.
PAUSE = 0.05
OUT = 0 if stat.S_ISSOCK(os.fstat(0).st_mode) else 1


class Forwarder:
    """Every connection to the port, told apart by its number."""

    def __init__(self, server: socket.socket) -> None:
        """Serve what comes to a listening socket."""
        self.server = server
        self.connections: dict[int, socket.socket] = {}
        self.half: set[int] = set()
        self.lock = threading.Lock()
        self.ending = threading.Lock()

    def accept(self) -> None:
        """Take connections, each with a thread that carries what it says."""
        number = 0
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:  # such as too many open files: that passes
                time.sleep(PAUSE)
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number += 1
            self.connections[number] = connection
            self.say(number, b"")
            work = threading.Thread(target=self.carry, args=(number, connection), daemon=True)
            try:
                work.start()
            except RuntimeError:  # as many run as may
                self.reset(number)

    def carry(self, number: int, connection: socket.socket) -> None:
        """Carry what one connection says, and its end."""
        chunk = b" "
        while chunk:
            try:
                chunk = connection.recv(CHUNK)
            except OSError:
                self.reset(number)
                return
            self.say(number, chunk)
        self.end(number)

    def say(self, number: int, chunk: bytes) -> None:
        """Send one frame."""
        with self.lock:
            write(OUT, HEAD.pack(number, len(chunk)) + chunk)

    def reset(self, number: int) -> None:
        """Say that a connection was reset, and close it by a reset."""
        with self.lock:
            write(OUT, HEAD.pack(number, RESET))
        self.forget(number, reset=True)

    def end(self, number: int) -> None:
        """Note that one direction has ended; with both the connection is closed."""
        with self.ending:
            both = number in self.half
            self.half.add(number)
        if both:
            self.forget(number)

    def forget(self, number: int, *, reset: bool = False) -> None:
        """Close a connection, by a reset if that is what happened to it."""
        self.half.discard(number)
        connection = self.connections.pop(number, None)
        if connection is not None:
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # wakes who reads from it
            connection.close()

    def deliver(self) -> None:
        """Give each connection what is said to it, until nobody speaks any more."""
        while True:
            head = read(HEAD.size)
            if len(head) < HEAD.size:
                return
            number, length = HEAD.unpack(head)
            if length == RESET:
                self.forget(number, reset=True)
                continue
            chunk = read(length)
            connection = self.connections.get(number)
            if connection is None:
                continue
            try:
                if chunk:
                    connection.sendall(chunk)
                else:
                    connection.shutdown(socket.SHUT_WR)
                    self.end(number)
            except OSError:
                self.forget(number)


def read(size: int) -> bytes:
    """Read so many bytes, fewer at the end."""
    chunks = []
    while size:
        chunk = os.read(0, min(size, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def write(descriptor: int, data: bytes) -> None:
    """Write all of the bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def run(words: list[str]) -> tuple[int, bytes]:
    """Start the program: no input, and both outputs in the log.

    Return its number, and why it could not be run.
    """
    told, telling = os.pipe()
    number = os.fork()
    if number == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        try:
            os.execvp(words[0], words)  # noqa: S606 - it is what the tunnel is for
        except OSError as error:
            write(telling, f"{words[0]}: {error.strerror}".encode())
        os._exit(127)
    os.close(telling)
    return number, os.read(told, 4096)


def main() -> None:
    """Listen, run, carry; end as the program ends."""
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
    server.set_inheritable(False)
    number, trouble = run(sys.argv[2:])
    forwarder = Forwarder(server)
    forwarder.say(0, trouble)
    if trouble:
        write(2, trouble + b"\n")
    for work in (forwarder.accept, forwarder.deliver):
        threading.Thread(target=work, daemon=True).start()
    _, status = os.waitpid(number, 0)
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    os._exit(code)


main()

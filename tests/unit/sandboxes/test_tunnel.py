"""Both ends of the tunnel: what a program says to its own loopback is heard at the host's."""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from evalgate.sandboxes import inside
from evalgate.sandboxes.tunnel import Tunnel
from tests.pausing import pausing

FORWARDERS = {"python": [sys.executable, "-I", "-S"], "node": ["node"]}

#: Two hundred questions on eight connections at once, a large one last; ends with 3.
CLIENT = """
import socket, sys, threading
def ask(name):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
        assert s.recv(6) == b"hello\\n"
        for size in [*range(1, 25), 1_000_000]:
            data = name * size
            threading.Thread(target=s.sendall, args=(data,)).start()
            got = b""
            while len(got) < len(data): got += s.recv(65536)
            assert got == data
        s.shutdown(socket.SHUT_WR)
        assert s.recv(1) == b""
    done.append(name)
done = []
threads = [threading.Thread(target=ask, args=(bytes([65 + n]),)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(len(done), file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture
def echo() -> Iterator[int]:
    """Greet, then repeat whatever is said, and close when the other side does."""

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.sendall(b"hello\n")
            while chunk := connection.recv(65536):
                if chunk == b"reset":
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return
                connection.sendall(chunk)

    def accept(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def carried(kind: str, client: str, echo: int, *, most: int = 0) -> tuple[int, bytes]:
    """Run a client behind a forwarder; return its exit code and what it said.

    The forwarder may have ``most`` files open, where that is not 0, and the client 200.
    """
    if shutil.which(FORWARDERS[kind][0]) is None:
        pytest.skip(f"{kind} is not installed")
    name = {"python": "forward.py", "node": "forward.js"}[kind]
    port = free_port()
    with as_file(files(inside) / name) as path:
        limit = ["prlimit", f"--nofile={most}:200"] if most else []
        words = [
            *limit,
            *FORWARDERS[kind],
            str(path),
            str(port),
            sys.executable,
            "-c",
            client,
            str(port),
        ]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None

        def send(data: bytes) -> None:
            stdin.write(data)
            stdin.flush()

        tunnel = Tunnel(echo, send)
        while chunk := stdout.read1(65536):  # type: ignore[attr-defined]
            tunnel.feed(chunk)
        said = stderr.read()
        code = process.wait()
        tunnel.close()
        for stream in (stdin, stdout, stderr):
            with contextlib.suppress(OSError):
                stream.close()
    return code, said.strip()


@pytest.mark.parametrize("kind", FORWARDERS)
def test_many_connections_are_carried(kind: str, echo: int) -> None:
    """Each connection gets its own bytes, its greeting first and its end last."""
    assert carried(kind, CLIENT, echo) == (3, b"8")


#: Three hundred connections, one after the other, then how many descriptors are open.
ONE_BY_ONE = """
import os, socket, sys, time
for _ in range(300):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
        s.recv(6)
        s.shutdown(socket.SHUT_WR)
        assert s.recv(1) == b""
for _ in range(100):
    held = len(os.listdir(f"/proc/{os.getppid()}/fd"))
    if held < 60: break
    time.sleep(0.05)
print("held" if held >= 60 else "let go", file=sys.stderr)
"""

#: Asks the server to reset, and tells how the connection ended.
RESET = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
    s.recv(6)
    s.sendall(b"reset")
    try: print("end" if s.recv(10) == b"" else "data", file=sys.stderr)
    except ConnectionResetError: print("reset", file=sys.stderr)
"""


@pytest.mark.parametrize("kind", FORWARDERS)
@pytest.mark.parametrize(
    ("client", "said"), [(ONE_BY_ONE, b"let go"), (RESET, b"reset")], ids=["closed", "reset"]
)
def test_connections_end_as_they_do_without_a_tunnel(
    kind: str, client: str, said: bytes, echo: int
) -> None:
    """They are closed when both sides have ended, and a reset is a reset."""
    assert carried(kind, client, echo) == (0, said)


#: Opens more connections than the forwarder may have files, then fewer again.
TOO_MANY = """
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
def opened():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.settimeout(20)
    return s
many = [opened() for _ in range(60)]
time.sleep(0.3)
for s in many: s.close()
s = opened()
assert s.recv(6) == b"hello\\n"
print("served", file=sys.stderr)
"""


@pytest.mark.parametrize("kind", FORWARDERS)
def test_more_connections_than_there_may_be_are_refused_for_a_while(kind: str, echo: int) -> None:
    """Once there are fewer, new ones are carried."""
    assert carried(kind, TOO_MANY, echo, most=40) == (0, b"served")


@pytest.mark.parametrize("kind", FORWARDERS)
def test_a_missing_program_ends_with_127(kind: str) -> None:
    """What can not be run is said in the log."""
    if shutil.which(FORWARDERS[kind][0]) is None:
        pytest.skip(f"{kind} is not installed")
    path = Path(str(files(inside) / {"python": "forward.py", "node": "forward.js"}[kind]))
    done = subprocess.run(
        [*FORWARDERS[kind], path, str(free_port()), "no-such-program"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 127
    assert b"no-such-program" in done.stderr


@pytest.mark.parametrize(
    "noise", [b"\xfe" * 64, struct.pack(">II", 1, 1 << 30), b"GET / HTTP/1.0\r\n\r\n"]
)
def test_what_is_no_frame_ends_the_tunnel_and_nothing_else(noise: bytes, echo: int) -> None:
    """A program may write whatever it likes where frames are expected."""
    sent: list[bytes] = []
    tunnel = Tunnel(echo, sent.append)
    tunnel.feed(noise)
    tunnel.feed(struct.pack(">II", 1, 0))
    tunnel.close()
    assert sent == []


def test_only_a_program_that_has_not_begun_can_not_be_run(echo: int) -> None:
    """Afterwards it is the program itself that says so, and ends nobody's run."""
    said = struct.pack(">II", 0, 4) + b"gone"
    tunnel = Tunnel(echo, lambda _: None)
    tunnel.feed(said)
    assert tunnel.trouble == "gone"
    begun = Tunnel(echo, lambda _: None)
    begun.feed(struct.pack(">II", 1, 0) + said)
    begun.close()
    assert begun.trouble == ""


def test_a_port_where_nobody_listens_is_an_end() -> None:
    """The connection inside is closed, as it would be without a tunnel."""
    sent: list[bytes] = []
    tunnel = Tunnel(free_port(), sent.append)
    tunnel.feed(struct.pack(">II", 1, 0))
    assert sent == [struct.pack(">II", 1, 0)]


def test_a_connection_that_is_opened_as_the_tunnel_ends_is_ended_with_it(echo: int) -> None:
    """At whichever step of it; nobody carries anything any more."""
    before = set(threading.enumerate())
    for step in range(1, 100):
        tunnel = Tunnel(echo, lambda _: None)
        fed = threading.Event()

        def end(tunnel: Tunnel = tunnel, fed: threading.Event = fed) -> None:
            fed.wait()
            tunnel.close()

        ending = threading.Thread(target=end)
        ending.start()
        with pausing("_connect", lambda _, step=step: step):
            fed.set()
            tunnel.feed(struct.pack(">II", 1, 0))
        ending.join()
        left = {thread.name for thread in set(threading.enumerate()) - before}
        assert not [name for name in left if name.startswith("tunnel-")], step

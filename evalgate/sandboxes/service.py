"""The tools of an agent on the host: its requests carried into a sandbox, the answers back.

`inside/service.py` connects to our port by way of its own loopback, as any program in a sandbox
finds a port of the host; the agent connects to a unix socket. What it asks there is checked,
numbered, passed on, and written down once it is answered. Answers come from where an agent may
do as it likes, so only their known fields are believed to be of the right kind.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evalgate.core.files import File
from evalgate.core.sandboxcall import SandboxCall
from evalgate.errors import UsageError
from evalgate.sandboxes.asker import Asker, line_of
from evalgate.sandboxes.client import LONGEST, addressed
from evalgate.sandboxes.inside import inner_text
from evalgate.sandboxes.toolanswer import ToolAnswer
from evalgate.sandboxes.toolrequest import ToolRequest, load_request

PROGRAM: Final = "service.py"
#: What the program inside reads its word from.
WORD: Final = "EVALGATE_SERVICE"

_GREETING: Final = 5.0
#: After so many seconds in which nobody could be taken in, the tools are given up ...
PATIENCE: Final = 30.0
#: ... and meanwhile it is tried again after so many.
_PAUSE: Final = 0.05
_GONE: Final = ToolAnswer(error="the sandbox has ended")


def service_program() -> dict[str, File]:
    """Return the file that is run inside the sandbox."""
    return {PROGRAM: File(data=inner_text(PROGRAM).encode())}


@contextlib.contextmanager
def open_service(path: Path, *, patience: float = PATIENCE) -> Iterator[ToolService]:
    """Listen for the program inside at a port, and for the agent at a unix socket at ``path``.

    The tools end when nobody can be taken in for ``patience`` seconds.
    """
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as desk,
    ):
        with addressed(str(path)) as address:
            desk.bind(address)
        desk.listen(64)
        service = ToolService(door, desk, patience)
        try:
            yield service
        finally:
            service.close()


@dataclass(slots=True, kw_only=True)
class _Pending:
    """A request under way: who asked, by which name, and since when."""

    request: ToolRequest
    name: Any
    agent: Asker
    began: float


class ToolService:
    """Passes requests in and answers out."""

    def __init__(self, door: socket.socket, desk: socket.socket, patience: float) -> None:
        self.word = secrets.token_hex(16)
        self.port: int = door.getsockname()[1]
        self.connected = threading.Event()
        self._patience = patience
        self._calls: dict[int, SandboxCall] = {}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._pending: dict[int, _Pending] = {}
        self._last = 0
        self._inside: socket.socket | None = None
        self._agents: set[socket.socket] = set()
        self._listening = (door, desk)
        self._serving: list[threading.Thread] = []
        self._accepting = [
            threading.Thread(target=self._accept, args=(place, work), name=name, daemon=True)
            for place, work, name in (
                (door, self._greet, "tools-door"),
                (desk, self._take_agent, "tools-desk"),
            )
        ]
        for thread in self._accepting:
            thread.start()

    def end(self) -> None:
        """Let the program inside end: nothing more is asked of it."""
        with self._lock:
            connection = self._inside
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)

    @property
    def calls(self) -> tuple[SandboxCall, ...]:
        """What was asked, in the order that it was asked in; all of it once this is closed."""
        with self._lock:
            return tuple(call for _, call in sorted(self._calls.items()))

    def close(self) -> None:
        """End all connections, and wait until all that was said on them is taken in."""
        self._closing.set()
        for one in self._listening:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._accepting:
            thread.join()
        with self._lock:
            left = [*self._agents, *([self._inside] if self._inside else [])]
        for one in left:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._serving:
            thread.join()

    def _accept(self, place: socket.socket, work: Callable[[socket.socket], None]) -> None:
        """Take in whoever comes; go on after an error that passes, as of too many open files."""
        connection: socket.socket | None = None
        failing = 0.0
        while not self._closing.is_set():
            try:
                connection = connection or place.accept()[0]
                work(connection)
            except (OSError, RuntimeError):  # the latter when no thread can be started
                failing = failing or time.monotonic()
                if time.monotonic() - failing > self._patience:
                    self.end()
                    break
                self._closing.wait(_PAUSE)
            else:
                connection, failing = None, 0.0
        if connection is not None:
            connection.close()

    def _greet(self, connection: socket.socket) -> None:
        """Take the first connection that knows the word, and no other one ever after."""
        connection.settimeout(_GREETING)
        with contextlib.suppress(OSError), connection.makefile("rb") as stream:
            said = stream.readline(len(self.word) + 1)
            if not self.connected.is_set() and hmac.compare_digest(
                said, self.word.encode() + b"\n"
            ):
                connection.settimeout(None)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._inside = connection
                self._start(self._hear, connection)
                self.connected.set()
                return
        connection.close()

    def _take_agent(self, connection: socket.socket) -> None:
        with self._lock:
            self._agents.add(connection)
        self._start(self._serve, connection)

    def _start(self, work: Callable[[socket.socket], None], connection: socket.socket) -> None:
        thread = threading.Thread(
            target=work, args=(connection,), name=f"tools{work.__name__}", daemon=True
        )
        thread.start()
        with self._lock:
            self._serving = [*filter(threading.Thread.is_alive, self._serving), thread]

    def _serve(self, connection: socket.socket) -> None:
        """Take what an agent asks on one connection; what it hangs up on is ended."""
        agent = Asker(connection)
        for line in _lines(connection):
            try:
                request, name = load_request(line)
            except UsageError as error:
                agent.say({"error": error.message})
            else:
                self._ask(request, name, agent)
        if agent.hung_up():
            for number in list(agent.waiting):
                self._tell({"kind": "cancel", "id": number})
        with self._lock:
            self._agents.discard(connection)
        agent.close()

    def _ask(self, request: ToolRequest, name: Any, agent: Asker) -> None:
        with self._lock:
            self._last += 1
            number = self._last
            agent.waiting.add(number)
            self._pending[number] = _Pending(
                request=request, name=name, agent=agent, began=time.monotonic()
            )
        if not self._tell({**request.dump(), "id": number}):
            self._answer(number, _GONE)

    def _tell(self, document: Mapping[str, Any]) -> bool:
        """Send a line in; tell whether there is anybody to hear it."""
        if self._inside is None:
            return False
        try:
            with self._sending:
                self._inside.sendall(line_of(document))
        except OSError:
            return False
        return True

    def _hear(self, connection: socket.socket) -> None:
        """Take the answers until the program inside ends; who waits then waits in vain."""
        for line in _lines(connection):
            try:
                document = json.loads(line)
                number, answer = int(document["id"]), ToolAnswer.load(document)
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
                break
            self._answer(number, answer)
        connection.close()
        for number in list(self._pending):
            self._answer(number, _GONE)

    def _answer(self, number: int, answer: ToolAnswer) -> None:
        with self._lock:
            pending = self._pending.pop(number, None)
            if pending is None:
                return
            seconds = round(time.monotonic() - pending.began, 4)
            self._calls[number] = SandboxCall(
                kind=pending.request.kind,
                command=pending.request.told,
                seconds=seconds,
                exit_code=answer.exit_code,
                bytes=answer.size or 0,
                timed_out=answer.late,
                cancelled=answer.cancelled,
                error=answer.error,
            ).sound
        document = {"id": pending.name, "seconds": seconds, **answer.dump()}
        pending.agent.say(document, number)


def _lines(connection: socket.socket) -> Iterator[bytes]:
    """Read whole lines until the other end has said all, or says more than any line holds."""
    with contextlib.suppress(OSError), connection.makefile("rb") as stream:
        while (line := stream.readline(LONGEST)).endswith(b"\n"):
            yield line

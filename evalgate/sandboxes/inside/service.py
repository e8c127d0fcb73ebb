"""Inside a sandbox: does what an agent on the host asks for, over one connection.

Run as ``python3 service.py PORT``: it connects to that port of its loopback, says the word it
was given, and then reads requests, one JSON document a line, and answers each as it is done.
Bytes are base64. It ends when the connection does; what still runs then is ended with the stage.
Nothing here imports evalgate.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

CHUNK = 1 << 16
#: So often is looked whether a program has ended whose output somebody else holds open.
LOOK = 0.02
#: What was said before the end is read at most so long, in seconds.
DRAIN = 0.2
#: No file is read that is longer.
LONGEST = 16 << 20
#: How it came that a program runs no more.
ENDED, LATE, CANCELLED = "ended", "late", "cancelled"
SHELL = shutil.which("bash") or "/bin/sh"


class Output:
    """The head and the tail of a program's output, and a count of all of it."""

    def __init__(self, keep: int) -> None:
        """Keep so many bytes of both."""
        self.keep = keep
        self.total = 0
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, chunk: bytes) -> None:
        """Take a chunk."""
        self.total += len(chunk)
        room = self.keep - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * self.keep:
            del self.tail[: -self.keep]

    def render(self) -> bytes:
        """Return what was kept; a line says how many bytes are missing."""
        tail = self.tail[-self.keep :]
        missing = self.total - len(self.head) - len(tail)
        note = b"\n[... %d bytes left out ...]\n" % missing if missing else b""
        return bytes(self.head + note + tail)


class Service:
    """Everything that is asked over one connection."""

    def __init__(self, connection: socket.socket) -> None:
        """Answer on a connection."""
        self.connection = connection
        self.lock = threading.Lock()
        self.cancelled: dict[int, threading.Event] = {}

    def listen(self) -> None:
        """Take requests until the connection ends."""
        for line in self.connection.makefile("rb"):
            request = json.loads(line)
            number = request["id"]
            if request["kind"] == "cancel":
                # It may be answered at this very moment: then there is nothing to give up.
                given_up = self.cancelled.get(number)
                if given_up is not None:
                    given_up.set()
                continue
            given_up = self.cancelled[number] = threading.Event()
            words = (number, request, given_up)
            work = threading.Thread(target=self.serve, args=words, daemon=True)
            try:
                work.start()
            except RuntimeError as error:  # as many run as may
                self.answer(number, {"error": str(error)})

    def serve(self, number: int, request: dict[str, Any], cancelled: threading.Event) -> None:
        """Do what is asked and say what came of it."""
        try:
            if request["kind"] == "exec":
                answer = execute(request, cancelled)
            else:
                answer = {"read": read, "write": write}[request["kind"]](request)
        except OSError as error:
            answer = {"error": f"{error.filename or ''}: {error.strerror}".lstrip(": ")}
        except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        self.answer(number, answer)

    def answer(self, number: int, answer: dict[str, Any]) -> None:
        """Say what came of a request."""
        del self.cancelled[number]
        line = json.dumps({"id": number, **answer}).encode() + b"\n"
        with self.lock:
            self.connection.sendall(line)


def execute(request: dict[str, Any], cancelled: threading.Event) -> dict[str, Any]:
    """Run a program until it ends or its time does, then end all of its session."""
    command = request.get("command")
    argv = [SHELL, "-c", command] if command is not None else request["argv"]
    cwd = Path.cwd() / request.get("cwd", "")
    if not cwd.is_dir():
        return {"error": f"{request['cwd']}: no such directory"}
    output = Output(request["keep"])
    deadline = time.monotonic() + request["timeout"]
    with contextlib.ExitStack() as stack:
        stdin: int | IO[bytes] = subprocess.DEVNULL
        if request.get("stdin"):
            stdin = stack.enter_context(tempfile.TemporaryFile())
            stdin.write(base64.b64decode(request["stdin"]))
            stdin.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**os.environ, "PWD": str(cwd)},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.add(f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
            code = 127 if isinstance(error, FileNotFoundError) else 126
            return said(output, code)
    pipe = process.stdout
    if pipe is None:
        raise RuntimeError("a program without an output")
    why = follow(process, pipe.fileno(), output, deadline, cancelled)
    if why != ENDED:
        end(process.pid)
        process.wait()
    take_rest(pipe, output)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return said(output, code if why == ENDED else None, why)


def said(output: Output, code: int | None, why: str = "") -> dict[str, Any]:
    """Put the answer for a program together."""
    return {
        **({"cancelled": True} if why == CANCELLED else {}),
        "exit_code": code,
        "output": base64.b64encode(output.render()).decode(),
        "bytes": output.total,
        "timed_out": why == LATE,
    }


def follow(
    process: subprocess.Popen[bytes],
    pipe: int,
    output: Output,
    deadline: float,
    cancelled: threading.Event,
) -> str:
    """Take output until the program ends; tell whether it did so by itself, or why not."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    is_open = True
    while True:
        left = deadline - time.monotonic()
        if cancelled.is_set():
            return CANCELLED
        if left <= 0:
            return LATE
        if is_open and poll.poll(1000 * min(LOOK, left)):
            chunk = os.read(pipe, CHUNK)
            output.add(chunk)
            is_open = bool(chunk)
        if is_open:
            if process.poll() is not None:
                return ENDED
            continue
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(LOOK, left))
            return ENDED


def take_rest(pipe: IO[bytes], output: Output) -> None:
    """Read what is in the pipe; what others say in it later is heard and forgotten.

    A program left in the background would be ended by its next word if nobody held the pipe.
    """
    os.set_blocking(pipe.fileno(), False)
    deadline = time.monotonic() + DRAIN
    while time.monotonic() < deadline:
        try:
            chunk = os.read(pipe.fileno(), CHUNK)
        except BlockingIOError:
            break
        if not chunk:
            pipe.close()
            return
        output.add(chunk)
    os.set_blocking(pipe.fileno(), True)
    threading.Thread(target=forget, args=(pipe,), daemon=True).start()


def forget(pipe: IO[bytes]) -> None:
    """Read to the end of the pipe."""
    with pipe:
        while os.read(pipe.fileno(), CHUNK):
            pass


def end(leader: int) -> None:
    """Kill a program, all below it and all of its session, until none is left.

    All are stopped before the first is killed: a shell would go on behind a command that ended.
    """
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        found = sorted(family(leader))
        for what in (signal.SIGSTOP, signal.SIGKILL):
            for number in found:
                with contextlib.suppress(OSError):
                    os.kill(number, what)
        if not found:
            return
        time.sleep(0.005)


def family(leader: int) -> list[int]:
    """Return the living processes of a session, and those below its leader or below them."""
    parents, found = {}, {leader}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "stat").read_bytes().rpartition(b")")[2].split()
            state, parent, _, session = words[:4]
            parents[int(place.name)] = int(parent), state in b"ZX"
            if int(session) == leader:
                found.add(int(place.name))
    while more := {one for one, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return [one for one in found if one in parents and not parents[one][1]]


def read(request: dict[str, Any]) -> dict[str, Any]:
    """Read a file, never a pipe or a device."""
    path = request["path"]
    with opened(path, os.O_RDONLY, "rb") as file:
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        return {"error": f"{path}: longer than {LONGEST >> 20} MiB"}
    return {"data": base64.b64encode(data).decode(), "bytes": len(data)}


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Write a file, with the directories above it."""
    path, data = Path(request["path"]), base64.b64decode(request["data"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened(str(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "wb") as file:
        file.write(data)
    return {"bytes": len(data)}


def opened(path: str, how: int, mode: str) -> IO[bytes]:
    """Open a file and nothing else: a pipe or a device could be waited for without end."""
    place = os.open(path, how | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(place).st_mode):
        os.close(place)
        raise OSError(0, "not a file", path)
    return os.fdopen(place, mode)


def main() -> None:
    """Connect, say the word, serve."""
    word = os.environ.pop("EVALGATE_SERVICE")
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(word.encode() + b"\n")
    with contextlib.suppress(OSError):
        Service(connection).listen()
    os._exit(0)


main()

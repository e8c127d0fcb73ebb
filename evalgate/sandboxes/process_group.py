"""One program with all it starts: begun, listened to, and ended together."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.owners import started_at
from evalgate.protocols import StageStatus, Stop
from evalgate.sandboxes.output import Output
from evalgate.sandboxes.survivors import Sought, end_survivors

_CHUNK = 1 << 20
#: An event can not be waited for together with a pipe, so it is looked at this often.
_LOOK = 0.05
#: How long ending everything, and reading what is still in the pipe, may take.
_PATIENCE = 0.7
_DRAIN = 0.2
_WAIT = 5.0

_LIMITS = {
    "core": (resource.RLIMIT_CORE, 0),
    "nofile": (resource.RLIMIT_NOFILE, 4096),
    "fsize": (resource.RLIMIT_FSIZE, 512 * 1024 * 1024),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is started: ``env`` is the whole environment; ``token`` marks its processes.

    ``stdin`` is a descriptor for its standard input, which is empty without one.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    token: str
    room: str
    pass_fds: Sequence[int] = ()
    stdin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a program ended; a signal N is the exit code 128 + N, as in a shell."""

    status: StageStatus
    exit_code: int | None
    output: Output
    seconds: float
    detail: str = ""


def run_group(program: Program, *, timeout: float, stop: Stop) -> Ending:
    """Run a program; return when it and everything it started has ended.

    A program that can not be started at all is `StageStatus.ENGINE` with the reason.
    """
    output = Output()
    reader, writer = os.pipe()
    began = time.monotonic()
    try:
        os.set_blocking(reader, False)
        with contextlib.suppress(OSError):  # users have a quota of large pipes
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, _CHUNK)
        try:
            process = _start(program, writer)
        except OSError as error:
            return Ending(
                status=StageStatus.ENGINE,
                exit_code=None,
                output=output,
                seconds=0.0,
                detail=f"{program.argv[0]} can not be started: {error.strerror}",
            )
        finally:
            os.close(writer)
        status = StageStatus.INTERRUPTED
        try:
            status = _listen(process, reader, output, deadline=began + timeout, stop=stop)
        finally:
            seconds = time.monotonic() - began
            left, code = _end(process, program)
            _drain(reader, output)
    finally:
        os.close(reader)
    ending = Ending(status=status, exit_code=None, output=output, seconds=seconds)
    if code is None:
        return replace(ending, status=StageStatus.ENGINE, detail="the program can not be ended")
    detail = f"{left} processes can not be ended" if left else ""
    return replace(
        ending,
        exit_code=code if status is StageStatus.EXITED else None,
        detail=detail,
    )


def not_found(detail: str) -> Ending:
    """Return the end of a program that was never there."""
    return Ending(
        status=StageStatus.NOT_FOUND,
        exit_code=None,
        output=Output(),
        seconds=0.0,
        detail=detail,
    )


def missing_program(name: str, path: str, cwd: str) -> str | None:
    """Say what is missing for a program to start: itself, or the interpreter it names.

    Looked at before the start, because afterwards a missing program and one that ends with
    127 by itself look the same, and only the first is no fault of what is measured.
    """
    found = shutil.which(str(Path(cwd, name)) if "/" in name else name, path=path)
    if found is None:
        return f"{name}: no such program"
    try:
        with Path(found).open("rb") as stream:
            first = stream.read(256).split(b"\n")[0]
    except OSError:  # it can be run all the same, or the start will tell
        return None
    words = first.removeprefix(b"#!").split()
    if first.startswith(b"#!") and words and not Path(os.fsdecode(words[0])).exists():
        return f"{name}: its interpreter {os.fsdecode(words[0])} is missing"
    return None


def _start(program: Program, writer: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*_limiting_words(), *program.argv],
        stdin=subprocess.DEVNULL if program.stdin is None else program.stdin,
        stdout=writer,
        stderr=writer,
        env=program.env,
        cwd=program.cwd,
        pass_fds=tuple(program.pass_fds),
        start_new_session=True,
    )


def _limiting_words() -> list[str]:
    """Return the words in front of a command that give it its limits.

    Limits set from here after the start would come too late for what it starts at once, and
    code between fork and exec is not safe beside threads. Without ``prlimit`` there are none:
    they are a courtesy to the host, no promise.
    """
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        return []
    words = [prlimit]
    for name, (kind, wanted) in _LIMITS.items():
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        words.append(f"--{name}={value}:{value}")
    return [*words, "--"]


def _listen(
    process: subprocess.Popen[bytes],
    reader: int,
    output: Output,
    *,
    deadline: float,
    stop: Stop,
) -> StageStatus:
    """Take output until the program ends, its time is over, or a stop is asked for."""
    handle = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            selector.register(handle, selectors.EVENT_READ)
            while True:
                if stop.is_set():
                    return StageStatus.INTERRUPTED
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return StageStatus.TIMEOUT
                ready = [key.fd for key, _ in selector.select(min(_LOOK, remaining))]
                if handle in ready:
                    return StageStatus.EXITED
                if reader in ready and not _take(reader, output):
                    selector.unregister(reader)
    finally:
        os.close(handle)


def _end(process: subprocess.Popen[bytes], program: Program) -> tuple[int, int | None]:
    """End the program and all it started; return how many are left, and its exit code."""
    # Not waited for yet, it keeps its number: neither group nor session can be another's.
    sought = Sought(
        token=program.token,
        leader=process.pid,
        since=started_at(process.pid) or 0,
        room=program.room,
    )
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    left = end_survivors(sought, patience=_PATIENCE)
    try:
        code = process.wait(_WAIT)
    except subprocess.TimeoutExpired:
        return left, None
    return left, code if code >= 0 else 128 - code


def _drain(reader: int, output: Output) -> None:
    """Read what is still in the pipe; somebody may hold it open, so no end is waited for."""
    deadline = time.monotonic() + _DRAIN
    while time.monotonic() < deadline and _take(reader, output):
        pass


def _take(reader: int, output: Output) -> bool:
    """Read once; tell whether more may come."""
    try:
        chunk = os.read(reader, _CHUNK)
    except BlockingIOError:
        return False
    output.add(chunk)
    return bool(chunk)

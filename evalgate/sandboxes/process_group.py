"""One program with all it starts: begun, listened to, and ended together."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.protocols import StageStatus, Stop
from evalgate.sandboxes.begun import Program, begin
from evalgate.sandboxes.output import Output

_CHUNK = 1 << 20
#: An event can not be waited for together with a pipe, so it is looked at this often.
_LOOK = 0.05
#: How long reading what is still in the pipe may take.
_DRAIN = 0.2


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
            begun = begin(program, writer)
        except OSError as error:
            return _not_started(program, str(error.strerror))
        finally:
            os.close(writer)
        status = StageStatus.INTERRUPTED
        try:
            status = _listen(begun.handle, reader, output, deadline=began + timeout, stop=stop)
        finally:
            seconds = time.monotonic() - began
            left, code = begun.end()
            _drain(reader, output)
    finally:
        os.close(reader)
    if isinstance(code, str):
        return _not_started(program, code)
    ending = Ending(status=status, exit_code=None, output=output, seconds=seconds)
    if code is None:
        return replace(ending, status=StageStatus.ENGINE, detail="the program can not be ended")
    detail = f"{left} processes can not be ended" if left else ""
    return replace(
        ending,
        exit_code=code if status is StageStatus.EXITED else None,
        detail=detail,
    )


def _not_started(program: Program, reason: str) -> Ending:
    detail = f"{program.argv[0]} can not be started: {reason}"
    return replace(not_found(detail), status=StageStatus.ENGINE)


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


def _listen(
    handle: int,
    reader: int,
    output: Output,
    *,
    deadline: float,
    stop: Stop,
) -> StageStatus:
    """Take output until the program ends, its time is over, or a stop is asked for."""
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

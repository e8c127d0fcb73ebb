"""Servers under measurement, each in a process of its own: start, CPU, memory, end."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple

#: With the process's number inverted above it, the clock of its CPU time: clock_getcpuclockid(3).
_CPU_CLOCK: Final = 2
_SIZE: Final = re.compile(r"(VmRSS|VmHWM):\s+(\d+) kB")
_READY_SECONDS: Final = 120.0
_END_SECONDS: Final = 20.0


class Cost(NamedTuple):
    """CPU time of a process so far in seconds; its memory in MB, resident now and at its most."""

    cpu: float
    memory: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server; ``process`` has its stdin and stdout as text pipes."""

    process: subprocess.Popen[str]

    def cost(self) -> Cost:
        """Read what the kernel says of the process: all its threads, no children."""
        pid = self.process.pid
        sizes = dict(_SIZE.findall(Path("/proc", str(pid), "status").read_text()))
        cpu = time.clock_gettime(~pid << 3 | _CPU_CLOCK)
        return Cost(cpu=cpu, memory=int(sizes["VmRSS"]) / 1000, peak=int(sizes["VmHWM"]) / 1000)

    def tell(self, line: str) -> str:
        """Write a line and return the line that it answers with. OSError when it has ended."""
        _pipe(self.process.stdin).write(f"{line}\n")
        _pipe(self.process.stdin).flush()
        return self.hear()

    def hear(self) -> str:
        """Return the next line of its output. OSError when there is none."""
        line = _pipe(self.process.stdout).readline()
        if not line:
            raise OSError(f"{self.process.args!r} has ended: {self.process.wait(5)}")
        return line.strip()


def cpu_of(argv: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None) -> float:
    """Run a program to its end; return ms of CPU, its own and its children's.

    Raises:
        RuntimeError: the program failed, or evalgate spoke on its stderr.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or b"evalgate" in done.stderr:
        raise RuntimeError(f"{argv}: {done.returncode}: {done.stderr.decode(errors='replace')}")
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


@contextmanager
def open_server(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start a program and end it with the context."""
    whole = {**os.environ, **(env or {})}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, env=whole, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Server(process=process)
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def open_module(name: str, *arguments: str) -> Iterator[Server]:
    """Start a module of this package with this Python."""
    with open_server([sys.executable, "-m", f"benchmarks.{name}", *arguments]) as server:
        yield server


def free_port() -> int:
    """Return a port of the loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, server: Server) -> None:
    """Wait until something listens on a port. OSError when the server ends before it does."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            break
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise OSError(f"{server.process.args!r} does not listen on port {port}")


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise OSError("the server was started without pipes")
    return pipe

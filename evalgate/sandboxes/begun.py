"""One program with all it starts, begun: known to have ended, and ended, as a whole."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.owners import started_at
from evalgate.sandboxes import keeper
from evalgate.sandboxes.survivors import Sought, end_survivors

#: How long ending everything may take, and how long the kernel may take to tell of it.
_PATIENCE = 0.7
_WAIT = 5.0
_SAID = 1000

_LIMITS = {
    "core": (resource.RLIMIT_CORE, 0),
    "nofile": (resource.RLIMIT_NOFILE, 4096),
    "fsize": (resource.RLIMIT_FSIZE, 512 * 1024 * 1024),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is started: ``env`` is the whole environment; ``token`` marks its processes.

    ``stdin`` is a descriptor for its standard input, which is empty without one. A program that
    no namespace holds is ``kept``: nothing below it gets away (see `keeper`).
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    token: str
    room: str
    pass_fds: Sequence[int] = ()
    stdin: int | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A program that was begun; ``handle`` can be read from once it has ended by itself."""

    program: Program
    process: subprocess.Popen[bytes]
    handle: int

    def end(self) -> tuple[int, int | str | None]:
        """End the program and all it started; return how many are left, and its exit code.

        Instead of a code: nothing when it can not be ended, or why it could not be started.
        """
        # Not waited for yet, it keeps its number: neither group nor session can be another's.
        since = started_at(self.process.pid) or 0
        leader: int | None = self.process.pid
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if self.program.kept:
                self.process.terminate()
                self.process.wait(_PATIENCE)
                leader = None
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        program = self.program
        sought = Sought(token=program.token, leader=leader, since=since, room=program.room)
        try:
            left = end_survivors(sought, patience=_PATIENCE)
            code = self.process.wait(_WAIT)
            return left, self._said() if program.kept else _as_in_a_shell(code)
        except subprocess.TimeoutExpired:
            return left, None
        finally:
            os.close(self.handle)

    def _said(self) -> int | str:
        """Return what the keeper said; one that was killed by its program said nothing."""
        word, _, rest = os.read(self.handle, _SAID).decode().partition(" ")
        if word == "failed":
            return rest
        return _as_in_a_shell(int(rest) if word == "ended" else -signal.SIGKILL)


def begin(program: Program, writer: int) -> Begun:
    """Begin a program whose output goes to ``writer``.

    Raises:
        OSError: it can not be started.
    """
    argv, ear, mouth = [*_limiting_words(), *program.argv], -1, list[int]()
    if program.kept:
        ear, *mouth = os.pipe()
        here = str(os.getpid())
        argv = [sys.executable, "-I", "-S", keeper.__file__, str(mouth[0]), here, *argv]
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if program.stdin is None else program.stdin,
            stdout=writer,
            stderr=writer,
            env=program.env,
            cwd=program.cwd,
            pass_fds=(*program.pass_fds, *mouth),
            start_new_session=True,
        )
    except OSError:
        if program.kept:
            os.close(ear)
        raise
    finally:
        for descriptor in mouth:
            os.close(descriptor)
    handle = ear if program.kept else os.pidfd_open(process.pid)
    return Begun(program=program, process=process, handle=handle)


def _as_in_a_shell(code: int) -> int:
    """Return the exit code of a shell for what ended so: a signal N is 128 + N."""
    return code if code >= 0 else 128 - code


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

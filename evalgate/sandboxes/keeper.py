"""Stands above one program and all it leaves behind, so that none of it is ever out of reach.

Run as ``python -I -S keeper.py SAID PARENT PROGRAM ...``. What loses its parent below becomes a
child of this process (prctl(2), PR_SET_CHILD_SUBREAPER), whatever it did to its session, directory
and environment. When the program ends, ``ended CODE`` is written to the descriptor SAID (or
``failed REASON``, when it can not be started). When SIGTERM comes, or PARENT is gone, everything
below is ended, and only then this process. It imports little, since every trial waits for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_AWAITED = {signal.SIGCHLD, signal.SIGTERM}


def main() -> None:
    """Start the program, say how it ended, and end all the rest when that is asked for."""
    said, parent, argv = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    try:
        # What Python ignores for itself is not ignored by others.
        ignored = [signal.SIGPIPE, signal.SIGXFSZ]
        program = os.posix_spawnp(
            argv[0],
            argv,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_CLOSE, said)],
            setsid=True,
            setsigmask=(),
            setsigdef=ignored,
        )
    except OSError as error:
        os.write(said, f"failed {error.strerror}".encode())
        return
    while signal.sigwait(_AWAITED) != signal.SIGTERM:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == program:
                    os.write(said, f"ended {os.waitstatus_to_exitcode(ended[1])}".encode())
    _end_all()


def _end_all() -> None:
    """Kill the children until there is none: those of a dead one are the next ones."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in _children():
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _children() -> list[int]:
    own = str(os.getpid()).encode()
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 pathlib takes longer to import than all else
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                text = stat.read()
                if text[text.rindex(b")") + 2 :].split()[1] == own:
                    found.append(int(name))
    return found


if __name__ == "__main__":
    main()

"""Every process that a stage's program started, wherever it went, found and ended.

A process group is not enough: ``setsid`` leaves it. So the whole process table is read and a
process belongs to the stage when it carries the stage's marker in its environment, or is in
the session of its program, or works inside the stage's room.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalgate.owners import stat_fields

_PAUSE = 0.005
#: How the command line of what stands above a program tells it, in every installation.
_KEEPER = b"/evalgate/sandboxes/keeper.py\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """How the processes of one stage are told from all others.

    ``token`` is a text in their environment, ``leader`` their session where it is known,
    ``since`` the start time that none is older than, ``room`` the directory they work in.
    ``mounts`` looks as well for namespaces of their own in which the room is mounted.
    """

    token: str
    leader: int | None
    since: int
    room: str
    mounts: bool = False


def end_survivors(sought: Sought, *, patience: float) -> int:
    """Kill until none is left, at most for ``patience`` seconds; return how many are left."""
    deadline = time.monotonic() + patience
    while True:
        found = sum(1 for pid in _running() if _end(pid, sought))
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(_PAUSE)


def _end(pid: int, sought: Sought) -> bool:
    """Kill the process when it belongs to the stage; tell whether it does.

    What stands above others is only told to end, since it ends those that nobody else knows.
    """
    try:
        # The handle is taken before the look, so a reused number can not be hit.
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _belongs(pid, sought):
            return False
        kept = _KEEPER in Path("/proc", str(pid), "cmdline").read_bytes()
        for number in (signal.SIGTERM, signal.SIGCONT) if kept else (signal.SIGKILL,):
            signal.pidfd_send_signal(handle, number)
    except OSError:  # it ended meanwhile
        return True
    else:
        return True
    finally:
        os.close(handle)


def _belongs(pid: int, sought: Sought) -> bool:
    fields = stat_fields(pid)
    if fields is None or fields[0] in {b"Z", b"X"} or int(fields[19]) < sought.since:
        return False
    if int(fields[3]) == sought.leader:
        return True
    base = Path("/proc", str(pid))
    with contextlib.suppress(OSError):
        if sought.token.encode() in (base / "environ").read_bytes():
            return True
    with contextlib.suppress(OSError):
        if sought.mounts and Path(sought.room).name.encode() in (base / "mountinfo").read_bytes():
            return True
    with contextlib.suppress(OSError):
        place = str((base / "cwd").readlink()).removesuffix(" (deleted)")
        return place == sought.room or place.startswith(sought.room + "/")
    return False


def _running() -> Iterator[int]:
    own = os.getpid()
    for name in os.listdir("/proc"):  # noqa: PTH208 - a path for each process costs more
        if name.isdigit() and int(name) != own:
            yield int(name)

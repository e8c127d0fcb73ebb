"""Whose a folder is: its name tells the process that made it, so that a dead one's is known.

Numbers of processes mean something only on the machine, since its start and in the process
namespace they come from; all of these are part of the name.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

#: How a name tells its owner: what `owner_name` returns.
OWNER: Final = r"(?P<pid>\d+)-(?P<since>\d+)-(?P<machine>[0-9a-f]+)"


def owner_name() -> str:
    """Return what names of this process hold; where no process tells its start, no `OWNER`."""
    own = os.getpid()
    return f"{own}-{started_at(own)}-{_machine()}"


def is_here(name: re.Match[str]) -> bool:
    """Tell whether the owner in a name is, or was, a process of this machine."""
    return name["machine"] == _machine()


def is_dead(name: re.Match[str]) -> bool:
    """Tell whether the owner in a name ran on this machine and is gone."""
    return is_here(name) and started_at(int(name["pid"])) != int(name["since"])


def started_at(pid: int) -> int | None:
    """Return the start time of a process in clock ticks since boot, None when it is gone."""
    fields = stat_fields(pid)
    return None if fields is None else int(fields[19])


def stat_fields(pid: int) -> list[bytes] | None:
    """Return /proc/PID/stat from its third field on (state, parent, group, session, ...)."""
    try:
        # Asked of every process of the machine, for every stage: a path object costs as much.
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return None
    # The second field is the program's own name and may hold blanks and brackets.
    return text[text.rindex(b")") + 2 :].split()


def _machine() -> str:
    """Return what tells this machine's process namespace from others that share a disk."""
    parts = []
    with contextlib.suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text(encoding="ascii").strip()[:8])
    with contextlib.suppress(OSError):
        parts.append(f"{Path('/proc/self/ns/pid').stat().st_ino:x}")
    return "".join(parts) or "0"

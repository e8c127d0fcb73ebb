"""Names of rooms: each tells its owner, so that a dead one's room is known from one in use.

Numbers of processes mean something only on the machine, since its start and in the process
namespace they come from; all of these are part of the name.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from evalgate.sandboxes.survivors import started_at

#: What the rooms of all owners are found by.
ROOMS: Final = "evalgate-room-*"
#: The file of a room that stands for a container: it holds the address of the engine.
ENGINE: Final = "engine"

_NAME: Final = re.compile(r"evalgate-room-(\d+)-(\d+)-([0-9a-f]+)-\w+")


def room_prefix() -> str:
    """Return how the names of the rooms of this process begin."""
    own = os.getpid()
    return f"evalgate-room-{own}-{started_at(own)}-{_machine()}-"


def owner_is_dead(room: str) -> bool:
    """Tell whether the process that a room is named by ran on this machine and is gone."""
    name = _NAME.fullmatch(room)
    if name is None or name[3] != _machine():
        return False
    return started_at(int(name[1])) != int(name[2])


def left_since(path: Path) -> int | None:
    """Return the start time of a room's dead owner; None when it lives or is not ours to judge."""
    try:
        foreign = path.lstat().st_uid != os.geteuid()
    except OSError:
        return None
    name = _NAME.fullmatch(path.name)
    return int(name[2]) if name and not foreign and owner_is_dead(path.name) else None


def _machine() -> str:
    """Return what tells this machine's process namespace from others that share a disk."""
    parts = []
    with contextlib.suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text(encoding="ascii").strip()[:8])
    with contextlib.suppress(OSError):
        parts.append(f"{Path('/proc/self/ns/pid').stat().st_ino:x}")
    return "".join(parts) or "0"

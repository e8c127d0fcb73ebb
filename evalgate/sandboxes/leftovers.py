"""What a killed evalgate left behind: its rooms, and the processes that still work in them.

A room is named by the process that made it, so that the next start can tell a dead owner's
room from one in use. Numbers of processes mean something only on the machine, since its start
and in the process namespace they come from; all of these are part of the name.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import tempfile
from pathlib import Path

from evalgate.sandboxes.removal import remove_directory
from evalgate.sandboxes.survivors import Sought, end_survivors, started_at

_NAME = re.compile(r"evalgate-room-(\d+)-(\d+)-([0-9a-f]+)-\w+")
_PATIENCE = 0.7

_log = logging.getLogger(__name__)


def room_prefix() -> str:
    """Return how the names of the rooms of this process begin."""
    own = os.getpid()
    return f"evalgate-room-{own}-{started_at(own)}-{_machine()}-"


def remove_leftovers(parent: Path | None = None) -> int:
    """End the processes and remove the rooms of owners that are dead; return how many rooms.

    Only rooms of this user, made on this machine, are touched.
    """
    removed = 0
    where = Path(parent or tempfile.gettempdir()).resolve()
    for path in where.glob("evalgate-room-*"):
        since = _left_since(path)
        if since is None:
            continue
        # The token of a dead owner is not known any more, but HOME and others name the room.
        sought = Sought(token=path.name, leader=None, since=since, room=str(path))
        end_survivors(sought, patience=_PATIENCE)
        try:
            remove_directory(path)
        except OSError as error:
            _log.warning("the left directory %s can not be removed: %s", path, error)
        else:
            removed += 1
    return removed


def _left_since(path: Path) -> int | None:
    """Return the start time of a room's dead owner; None when it lives or is not ours to judge."""
    name = _NAME.fullmatch(path.name)
    try:
        foreign = path.lstat().st_uid != os.geteuid()
    except OSError:
        return None
    if name is None or foreign or name[3] != _machine():
        return None
    since = int(name[2])
    return None if started_at(int(name[1])) == since else since


def _machine() -> str:
    """Return what tells this machine's process namespace from others that share a disk."""
    parts = []
    with contextlib.suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text(encoding="ascii").strip()[:8])
    with contextlib.suppress(OSError):
        parts.append(f"{Path('/proc/self/ns/pid').stat().st_ino:x}")
    return "".join(parts) or "0"

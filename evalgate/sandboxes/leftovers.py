"""What a killed evalgate left behind: its rooms, and what still works in them.

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evalgate.sandboxes.docker import Engine, EngineError
from evalgate.sandboxes.removal import remove_directory
from evalgate.sandboxes.survivors import Sought, end_survivors, started_at

_NAME = re.compile(r"evalgate-room-(\d+)-(\d+)-([0-9a-f]+)-\w+")
_PATIENCE = 0.7
_AT_ONCE = 8

#: The file of a room that stands for a container: it holds the address of the engine.
ENGINE = "engine"

_log = logging.getLogger(__name__)


def room_prefix() -> str:
    """Return how the names of the rooms of this process begin."""
    own = os.getpid()
    return f"evalgate-room-{own}-{started_at(own)}-{_machine()}-"


def find_leftovers(parent: Path | None = None) -> list[Path]:
    """Return the rooms of owners that are dead: only those of this user, made on this machine."""
    where = Path(parent or tempfile.gettempdir()).resolve()
    return sorted(path for path in where.glob("evalgate-room-*") if _left_since(path) is not None)


def remove_leftovers(parent: Path | None = None) -> int:
    """End the processes and remove the rooms of owners that are dead; return how many rooms."""
    found = find_leftovers(parent)
    if len(found) <= 1:
        return sum(map(clear_room, found))
    # An engine takes its time for each container, and does several at once.
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return sum(pool.map(clear_room, found))


def clear_room(path: Path) -> bool:
    """End what works in the room of a dead owner and remove it; tell whether it is gone."""
    since = _left_since(path)
    return since is not None and _clear(path, since)


def find_containers(engine: Engine) -> list[str]:
    """Return the names of containers whose owner on this machine is dead, room or no room.

    An engine that does not answer has none.
    """
    if engine.unavailable() is not None:
        return []
    return [name for name in engine.ours() if _owner_is_dead(name)]


def remove_own_rooms(parent: Path | None = None) -> int:
    """End the processes and remove the rooms of this very process, which is about to end."""
    where = Path(parent or tempfile.gettempdir()).resolve()
    since = started_at(os.getpid()) or 0
    return sum(_clear(path, since) for path in where.glob(f"{room_prefix()}*"))


def _clear(path: Path, since: int) -> bool:
    """End what works in a room whose owner began at ``since``; tell whether it is gone."""
    try:
        address = _engine_of(path)
        if address is None:
            # The token of a dead owner is not known any more, but HOME and others name the room.
            sought = Sought(token=path.name, leader=None, since=since, room=str(path))
            end_survivors(sought, patience=_PATIENCE)
        else:
            Engine(address).remove(path.name)
        remove_directory(path)
    except (OSError, EngineError) as error:
        _log.warning("what is left at %s can not be removed: %s", path, error)
        return False
    return True


def _engine_of(path: Path) -> str | None:
    """Return the address of the engine whose container a room stands for, None for a folder."""
    place = path / ENGINE
    return place.read_text(encoding="utf-8") if place.exists() else None


def _left_since(path: Path) -> int | None:
    """Return the start time of a room's dead owner; None when it lives or is not ours to judge."""
    try:
        foreign = path.lstat().st_uid != os.geteuid()
    except OSError:
        return None
    name = _NAME.fullmatch(path.name)
    return int(name[2]) if name and not foreign and _owner_is_dead(path.name) else None


def _owner_is_dead(room: str) -> bool:
    """Tell whether the process that a room is named by ran on this machine and is gone."""
    name = _NAME.fullmatch(room)
    if name is None or name[3] != _machine():
        return False
    return started_at(int(name[1])) != int(name[2])


def _machine() -> str:
    """Return what tells this machine's process namespace from others that share a disk."""
    parts = []
    with contextlib.suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text(encoding="ascii").strip()[:8])
    with contextlib.suppress(OSError):
        parts.append(f"{Path('/proc/self/ns/pid').stat().st_ino:x}")
    return "".join(parts) or "0"

"""Names of rooms: each tells its owner, so that a dead one's room is known from one in use."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from evalgate.owners import OWNER, is_dead, owner_name

#: What the rooms of all owners are found by.
ROOMS: Final = "evalgate-room-*"
#: The file of a room that stands for a container: it holds the address of the engine.
ENGINE: Final = "engine"

_NAME: Final = re.compile(rf"evalgate-room-{OWNER}-\w+")


def room_prefix() -> str:
    """Return how the names of the rooms of this process begin."""
    return f"evalgate-room-{owner_name()}-"


def owner_is_dead(room: str) -> bool:
    """Tell whether the process that a room is named by ran on this machine and is gone."""
    name = _NAME.fullmatch(room)
    return name is not None and is_dead(name)


def left_since(path: Path) -> int | None:
    """Return the start time of a room's dead owner; None when it lives or is not ours to judge."""
    try:
        foreign = path.lstat().st_uid != os.geteuid()
    except OSError:
        return None
    name = _NAME.fullmatch(path.name)
    return int(name["since"]) if name and not foreign and is_dead(name) else None

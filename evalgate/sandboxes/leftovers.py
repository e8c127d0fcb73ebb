"""What a killed evalgate left behind: its rooms, folders and containers, and images nobody needs.

These go once their owner is dead. An image is made again when it is needed, and
no engine tells when one was used last: one that is older than a week goes.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from evalgate.disk import passing_folders
from evalgate.owners import started_at
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.engine_error import EngineError
from evalgate.sandboxes.images import is_made_here
from evalgate.sandboxes.removal import remove_directory
from evalgate.sandboxes.room_name import ENGINE, ROOMS, left_since, owner_is_dead, room_prefix
from evalgate.sandboxes.survivors import Sought, end_survivors
from evalgate.sandboxes.table import engines

#: After so many days `find_leftovers` names an image.
IMAGE_DAYS: Final = 7

_DAY: Final = 86_400
#: Seconds in which what was killed may end; a busy machine takes its time.
_PATIENCE = 5.0
_AT_ONCE = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One thing that was left; ``remove`` says why it stays, nothing when it is gone."""

    kind: str
    name: str
    remove: Callable[[], str]


def find_leftovers(*, images: bool = False) -> Iterator[Leftover]:
    """Find what dead owners left, and images that are old; with ``images`` also young ones.

    What a living evalgate uses, on this machine or on another that shares an engine, stays: so do
    all images of an engine as long as one has a container there. An engine that does not answer
    has nothing.
    """
    for engine in engines():
        try:
            yield from _at_engine(engine, images=images)
        except EngineError as error:
            _log.warning("the engine at %s fails: %s", engine.address, error)
    with closing(_Asked()) as asked:
        for path in _rooms():
            yield Leftover(kind="room", name=str(path), remove=partial(_clear_room, asked, path))
    for path in passing_folders():
        yield Leftover(kind="folder", name=str(path), remove=partial(_clear_folder, path))


def remove_leftovers(parent: Path | None = None) -> int:
    """End the processes, remove rooms and folders of owners that are dead; return how many rooms.

    Raises nothing for what can not be removed: it is told, and looked at again the next time.
    """
    for folder in passing_folders(parent):
        _clear_folder(folder)
    found = _rooms(parent)
    with closing(_Asked()) as asked:
        clear = partial(_clear_room, asked)
        if len(found) <= 1:
            return sum(not clear(path) for path in found)
        # An engine takes its time for each container, and does several at once.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return sum(not stays for stays in pool.map(clear, found))


def remove_own_rooms() -> None:
    """End the processes and remove the rooms of this very process, which is about to end."""
    where = Path(tempfile.gettempdir()).resolve()
    since = started_at(os.getpid()) or 0
    with closing(_Asked()) as asked:
        for path in where.glob(f"{room_prefix()}*"):
            _clear(asked, path, since)


def _at_engine(engine: Engine, *, images: bool) -> Iterator[Leftover]:
    if engine.unavailable() is not None:
        return
    containers = engine.ours()
    dead = [name for name in containers if owner_is_dead(name)]
    for name in dead:
        gone = partial(_removed, partial(engine.remove, name))
        yield Leftover(kind="container", name=name, remove=gone)
    if len(dead) < len(containers):
        return
    until = time.time() - (0 if images else IMAGE_DAYS * _DAY)
    for one in engine.labelled_images():
        if is_made_here(one) and one.created <= until:
            gone = partial(_removed, partial(engine.remove_image, one.name))
            yield Leftover(kind="image", name=one.name, remove=gone)


def _removed(remove: Callable[[], object]) -> str:
    """Remove something of an engine; return why it stays, nothing when it is gone."""
    try:
        remove()
    except EngineError as error:
        return str(error)
    return ""


def _rooms(parent: Path | None = None) -> list[Path]:
    """Return the rooms of owners that are dead: only those of this user, made on this machine."""
    where = Path(parent or tempfile.gettempdir()).resolve()
    return sorted(path for path in where.glob(ROOMS) if left_since(path) is not None)


class _Asked:
    """The engines that are asked to remove containers: one an address, for all threads."""

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}
        self._lock = threading.Lock()

    def at(self, address: str) -> Engine:
        """Return the engine at an address."""
        with self._lock:
            return self._engines.setdefault(address, Engine(address))

    def close(self) -> None:
        """Let go of all of them."""
        for engine in self._engines.values():
            engine.close()


def _clear_room(asked: _Asked, path: Path) -> str:
    """End what works in the room of a dead owner and remove it; return why it stays."""
    since = left_since(path)
    if since is None:
        return "somebody uses it" if path.exists() else ""
    return _clear(asked, path, since)


def _clear_folder(path: Path) -> str:
    """Remove a folder that was made for one command; return why it stays."""
    try:
        remove_directory(path)
    except OSError as error:
        _log.warning("what is left at %s can not be removed: %s", path, error)
        return str(error)
    return ""


def _clear(asked: _Asked, path: Path, since: int) -> str:
    """End what works in a room whose owner began at ``since``; return why it stays."""
    try:
        address = _engine_of(path)
        if address is None:
            # The token of a dead owner is not known any more, but HOME and others name the room.
            sought = Sought(token=path.name, leader=None, since=since, room=str(path), mounts=True)
            end_survivors(sought, patience=_PATIENCE)
        elif not asked.at(address).is_gone:
            # An engine that comes back still has the container's label, which `clean` looks for.
            asked.at(address).remove(path.name)
    except (OSError, EngineError) as error:
        _log.warning("what is left at %s can not be removed: %s", path, error)
        return str(error)
    return _clear_folder(path)


def _engine_of(path: Path) -> str | None:
    """Return the address of the engine whose container a room stands for, None for a folder."""
    place = path / ENGINE
    return place.read_text(encoding="utf-8") if place.exists() else None

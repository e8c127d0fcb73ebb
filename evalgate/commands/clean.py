"""`evalgate clean`: what killed runs left on this machine, shown and removed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from evalgate.core.json import Json
from evalgate.sandboxes.container import engines
from evalgate.sandboxes.docker import EngineError
from evalgate.sandboxes.leftovers import clear_room, find_containers, find_leftovers
from evalgate.sandboxes.removal import remove_directory

#: Folders that live as long as one command; a day later nobody is in them any more.
_PASSING: Final = ("evalgate-tree-*", "evalgate-snapshot-*", "evalgate-demo-*")
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One thing that was left: what it is, its name, and how it is removed."""

    kind: str
    name: str
    remove: Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What was found; ``kept`` are those that could not be removed, and why."""

    found: tuple[Leftover, ...]
    kept: dict[str, str]
    dry_run: bool

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "dry_run": self.dry_run,
            "found": [{"kind": one.kind, "name": one.name} for one in self.found],
            "kept": dict(self.kept),
        }

    @property
    def text(self) -> str:
        """Say it, one thing a line."""
        if not self.found:
            return "nothing is left of runs that were killed"
        done = "would be removed" if self.dry_run else "removed"
        return "\n".join(
            f"{one.kind} {one.name}: {self.kept.get(one.name, done)}" for one in self.found
        )


def clean(*, dry_run: bool) -> Cleaned:
    """Find what dead owners left behind and, unless this is a ``dry_run``, remove it.

    What a living evalgate uses, on this machine or on another that shares an engine, stays.
    """
    found = (*_containers(), *_rooms(), *_folders())
    kept: dict[str, str] = {}
    for one in () if dry_run else found:
        try:
            one.remove()
        except (OSError, EngineError) as error:
            kept[one.name] = f"stays: {error}"
    return Cleaned(found=found, kept=kept, dry_run=dry_run)


def _containers() -> Iterator[Leftover]:
    for engine in engines():
        for name in find_containers(engine):
            yield Leftover(kind="container", name=name, remove=partial(engine.remove, name))


def _rooms() -> Iterator[Leftover]:
    for path in find_leftovers():
        yield Leftover(kind="room", name=str(path), remove=partial(clear_room, path))


def _folders() -> Iterator[Leftover]:
    where, now = Path(tempfile.gettempdir()), time.time()
    for pattern in _PASSING:
        for path in sorted(where.glob(pattern)):
            status = path.lstat()
            if status.st_uid == os.geteuid() and now - status.st_mtime > _DAY:
                yield Leftover(
                    kind="folder", name=str(path), remove=partial(remove_directory, path)
                )

"""A directory of our own for one stage: its places, what is laid there, what is read back."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from evalgate.core.files import Tree
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Places, Stage, StageResult, StageStatus
from evalgate.sandboxes.harvest import Harvest
from evalgate.sandboxes.layout import lay_tree, seal
from evalgate.sandboxes.process_group import Ending
from evalgate.sandboxes.removal import remove_directory
from evalgate.sandboxes.room_name import ENGINE, room_prefix
from evalgate.sandboxes.taking import TooLargeError

PLACES = tuple(place.name for place in fields(Places))
SEALED = ("harness", "inbox", "tests")

#: Where a room is in a sandbox with a file system of its own.
TOP: Final = "/evalgate"

_log = logging.getLogger(__name__)


def places_below(top: str) -> Places:
    """Return the places as they are named when a room is seen at ``top``."""
    return Places(**{name: f"{top}/{name}" for name in PLACES})


PLACES_INSIDE: Final = places_below(TOP)


class Room:
    """The directory; nothing in it is ever run or read by git from outside the sandbox."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: A room that stands for something which could not be removed stays with it.
        self.stays = False
        self._used = False

    def use(self, stage: Stage) -> None:
        """Take the room for a stage.

        Raises:
            UsageError: a place that does not exist.
            RuntimeError: the room was used before; what a program left is not built upon.
        """
        if self._used:
            raise RuntimeError("a sandbox is for one stage")
        self._used = True
        unknown = sorted({*stage.trees, *stage.keep}.difference(PLACES))
        if unknown:
            raise UsageError(f"a sandbox has no place named {', '.join(unknown)}")

    def lay(self, stage: Stage) -> None:
        """Lay the trees of the stage in, and seal the places that are only for reading.

        Raises:
            UsageError: an unsafe path, or a place that does not exist.
            NotAvailableError: the disk is full, or does not take such names.
            RuntimeError: the room was used before.
        """
        self.use(stage)
        try:
            for name in PLACES:
                (self.path / name).mkdir(mode=0o755)
                lay_tree(stage.trees.get(name, {}), self.path / name, allow_git=name == "repo")
            for name in SEALED:
                seal(self.path / name)
        except OSError as error:
            raise NotAvailableError(
                f"the files of a stage can not be laid below {self.path.parent}: {error.strerror}",
                hint="TMPDIR names another directory for sandboxes",
            ) from error

    def finish(self, stage: Stage, ending: Ending) -> StageResult:
        """Read the kept places back and put the result together.

        Files come back after an end of the program's own and after a time-out.
        """
        status, details = ending.status, [ending.detail]
        trees: dict[str, Tree] = {}
        if status in {StageStatus.EXITED, StageStatus.TIMEOUT}:
            try:
                trees, more, complete = self._read(stage.keep)
            except OSError as error:
                status, more, complete = (
                    StageStatus.ENGINE,
                    [f"files can not be read: {error}"],
                    True,
                )
            details += more
            if not complete and status is StageStatus.EXITED:
                status = StageStatus.TOO_LARGE
        return StageResult(
            status=status,
            exit_code=ending.exit_code,
            log=ending.output.render(),
            log_bytes=ending.output.total,
            seconds=ending.seconds,
            trees=trees,
            detail="; ".join(filter(None, details)),
        )

    def _read(self, keep: Sequence[str]) -> tuple[dict[str, Tree], list[str], bool]:
        trees: dict[str, Tree] = {}
        details: list[str] = []
        complete = True
        for name in keep:
            harvest = Harvest()
            try:
                harvest.read(str(self.path / name))
            except TooLargeError as error:
                details.append(f"{name}: {error}")
                complete = False
            else:
                trees[name] = harvest.files
            if harvest.skipped:
                details.append(f"{name}: not a file, left out: {harvest.describe_skipped()}")
        return trees, details, complete


@contextlib.contextmanager
def open_room(parent: Path | None = None, *, engine: str = "") -> Iterator[Room]:
    """Make a fresh room, below the system's temporary directory when no parent is given.

    With the address of an engine it stands for a container of that name.

    At the end it is removed, whatever happened; what can not be removed is logged, because a
    finished measurement must not be lost by it.
    """
    where = Path(parent or tempfile.gettempdir()).resolve()
    path = Path(tempfile.mkdtemp(prefix=room_prefix(), dir=where))
    room = Room(path)
    try:
        if engine:
            (path / ENGINE).write_text(engine, encoding="utf-8")
        yield room
    finally:
        try:
            if not room.stays:
                remove_directory(path)
        except OSError as error:
            _log.warning("the sandbox directory %s can not be removed: %s", path, error)

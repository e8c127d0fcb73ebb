"""Writes that are either whole or absent, and folders that live as long as one command."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evalgate.owners import OWNER, is_dead, is_here, owner_name

_PASSING: Final = "evalgate-passing-"
_NAME: Final = re.compile(rf"{_PASSING}\w+-{OWNER}-\w+")
#: A day later nobody is any more in a folder that was made for one command.
_DAY: Final = 86_400


def read_at_most(path: Path, most: int) -> bytes | None:
    """Return what a file holds, None when that is more than so many bytes: never read whole."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    return data if len(data) <= most else None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, synced before it takes the name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def open_passing_folder(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a folder for one command and remove it at the end; ``kind`` is a word in its name.

    Its name tells its owner as well. It lies in ``parent``, or the temporary directory.
    """
    prefix = f"{_PASSING}{kind}-{owner_name()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        yield Path(folder)


def passing_folders(parent: Path | None = None) -> Iterator[Path]:
    """Find the folders of this user that killed commands left in a folder, or the temporary one.

    Of an owner that no process of this machine can be, one is left when it is a day old.
    """
    until = time.time() - _DAY
    for path in sorted(Path(parent or tempfile.gettempdir()).glob(f"{_PASSING}*")):
        try:
            status = path.lstat()
        except FileNotFoundError:  # a command that lives has come to its end
            continue
        name = _NAME.fullmatch(path.name)
        left = is_dead(name) if name and is_here(name) else status.st_mtime < until
        if left and status.st_uid == os.geteuid():
            yield path

"""Writes that are either whole or absent, and folders that live as long as one command."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PASSING: Final = "evalgate-passing-"


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
def open_passing_folder(kind: str) -> Iterator[Path]:
    """Make a folder for one command and remove it at the end; ``kind`` is a word in its name."""
    with tempfile.TemporaryDirectory(prefix=f"{_PASSING}{kind}-") as folder:
        yield Path(folder)


def passing_folders(*, age: float) -> Iterator[Path]:
    """Find the folders of this user that killed commands left, untouched for ``age`` seconds."""
    until = time.time() - age
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_PASSING}*")):
        try:
            status = path.lstat()
        except FileNotFoundError:  # a command that lives has come to its end
            continue
        if status.st_uid == os.geteuid() and status.st_mtime < until:
            yield path

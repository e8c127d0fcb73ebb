"""A lock between processes: the system lets go of it when its owner dies, however that happens."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path


class HeldError(Exception):
    """Another process has the lock; ``owner`` is its number, None when it does not say."""

    def __init__(self, owner: int | None) -> None:
        super().__init__(f"held by process {owner}")
        self.owner = owner


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock of that name while the context lasts; HeldError when another one does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path) as file:
        with suppress(OSError):  # on a full disk the owner has no name, and the lock all the same
            file.truncate(0)
            file.write(f"{os.getpid()}\n".encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(path: Path) -> FileIO:
    while True:
        file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may have removed the file after it was opened here.
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        except BlockingIOError as error:
            file.seek(0)
            owner = file.read().strip()
            file.close()
            raise HeldError(int(owner) if owner.isdigit() else None) from error
        except FileNotFoundError:
            pass
        file.close()

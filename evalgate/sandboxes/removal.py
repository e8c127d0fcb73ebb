"""Removing a directory that a hostile program has filled."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_PATIENCE = 2.0
_PAUSE = 0.02


def remove_directory(path: Path) -> None:
    """Remove a directory with all it holds, whatever modes and depth its content has.

    Links are never followed, not even when a process still swaps things underneath.

    Raises:
        OSError: something in it can not be removed, even after some tries.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            _remove(path)
        except FileNotFoundError:
            if not os.path.lexists(path):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(_PAUSE)


def open_directory(name: str, parent: int | None = None) -> int:
    """Open a directory for reading, giving its owner the right to do so; never through a link."""
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        return reopen_directory(place)
    finally:
        os.close(place)


def reopen_directory(place: int) -> int:
    """Open for reading the directory that an ``O_PATH`` descriptor stands for."""
    make_accessible(place, 0o700)
    return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def make_accessible(place: int, rights: int) -> None:
    """Add rights to what an ``O_PATH`` descriptor stands for: by it, no link can be followed."""
    mode = os.fstat(place).st_mode & 0o777
    if mode & rights != rights:
        with contextlib.suppress(PermissionError):  # not ours: the open that follows will tell
            Path(f"/proc/self/fd/{place}").chmod(mode | rights)


def _remove(path: Path) -> None:
    """Empty the directory without recursion: each one inside is first moved up to the top."""
    top = open_directory(os.fspath(path))
    try:
        number = 0
        while names := os.listdir(top):  # noqa: PTH208 - an open directory has no path
            for name in names:
                number = _dissolve(top, name, number)
    finally:
        os.close(top)
    path.rmdir()


def _dissolve(top: int, name: str, number: int) -> int:
    """Remove one entry of the top; what directories it holds become entries of the top."""
    try:
        os.unlink(name, dir_fd=top)
    except (IsADirectoryError, PermissionError):
        pass
    else:
        return number
    place = open_directory(name, top)
    try:
        with os.scandir(place) as entries:
            found = list(entries)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                os.close(open_directory(entry.name, place))  # a move needs rights on it as well
                number = _move_up(place, entry.name, top, number)
            else:
                os.unlink(entry.name, dir_fd=place)
    finally:
        os.close(place)
    os.rmdir(name, dir_fd=top)
    return number


def _move_up(place: int, name: str, top: int, number: int) -> int:
    while True:
        number += 1
        try:
            os.mkdir(f"moved-{number}", dir_fd=top)
        except FileExistsError:
            continue
        os.rename(name, f"moved-{number}", src_dir_fd=place, dst_dir_fd=top)
        return number

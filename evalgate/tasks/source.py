"""Tasks of other formats as they lie on a disk: a folder, a file, or a folder full of them.

They may be a stranger's: beside what is named no link is followed, and nothing is read that is
neither a file nor a folder, or without end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from evalgate.core.files import File, FileMode, Tree
from evalgate.disk import read_at_most
from evalgate.errors import UsageError
from evalgate.tasks.formats import FORMATS, format_of

_SKIPPED = {".git", "__pycache__", ".DS_Store"}
#: The most that the files of one folder may come to.
_BYTES: Final = 256 << 20


def find_sources(path: Path, *, name: str = "") -> list[tuple[str, Path, Tree]]:
    """Return format, place and files of what is to be imported; ``name`` is the format, if known.

    A folder that is no task itself is looked into, one level deep.

    Raises:
        UsageError: there is nothing of a known format, or more than 256 MiB in one place.
    """
    if name and name not in FORMATS:
        message = f"--format: {name!r} is no format"
        raise UsageError(message, hint=f"formats: {', '.join(FORMATS)}")
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder", hint="name one that is there")
    if not path.is_file() and not path.is_dir():
        raise UsageError(f"{path}: is neither a file nor a folder", hint="name one of these")
    places = [path]
    if path.is_dir() and not _kind(path, name):
        places = sorted(one for one in path.iterdir() if _is_file(one) or _is_folder(one))
    found: list[tuple[str, Path, Tree]] = [
        (kind, place, _files(place)) for place in places if (kind := _kind(place, name))
    ]
    if not found:
        known = "; ".join(f"{key}: {one.what}" for key, one in FORMATS.items())
        raise UsageError(f"{path}: is of no format that is known", hint=known)
    return found


def _kind(path: Path, name: str) -> str:
    files = _files(path) if path.is_file() else _names(path)
    if name:
        return name if FORMATS[name].known(files) else ""
    return format_of(files)


def _names(path: Path) -> Tree:
    """Return what a folder holds two levels deep, without the bytes: enough to know it by."""
    outer = list(path.iterdir())
    inner = [one for folder in outer if _is_folder(folder) for one in folder.iterdir()]
    nothing = File(data=b"")
    return {one.relative_to(path).as_posix(): nothing for one in outer + inner if _is_file(one)}


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _files(path: Path) -> dict[str, File]:
    if path.is_file():
        return {path.name: File(data=_bytes(path, _BYTES))}
    found: dict[str, File] = {}
    room = _BYTES
    for parent, folders, names in os.walk(path):
        links = [one for one in folders if Path(parent, one).is_symlink()]
        folders[:] = sorted(set(folders) - _SKIPPED - set(links))
        for name in [*names, *links]:
            place = Path(parent, name)
            if name not in _SKIPPED:
                file = _file(place, room)
                room -= len(file.data)
                found[place.relative_to(path).as_posix()] = file
    return found


def _bytes(path: Path, room: int) -> bytes:
    """Read a file that must fit in what room is left, in bytes."""
    data = read_at_most(path, room)
    if data is None:
        message = f"{path}: with it there are more than {_BYTES >> 20} MiB"
        raise UsageError(message, hint="take it away, or name the tasks one by one")
    return data


def _file(path: Path, room: int) -> File:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return File(data=os.fsencode(os.readlink(path)), mode=FileMode.SYMLINK)  # noqa: PTH115 - bytes
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path}: is no file", hint="take it away")
    executable = FileMode.EXECUTABLE if mode & 0o100 else FileMode.REGULAR
    return File(data=_bytes(path, room), mode=executable)

"""Reading back what a program left in a directory, without trusting any of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from evalgate.core.files import File, FileMode
from evalgate.sandboxes.removal import make_accessible, open_directory, reopen_directory
from evalgate.sandboxes.taking import (
    MAX_DIRECTORIES,
    MAX_FILES,
    Taking,
    TooLargeError,
    describe_paths,
)


@dataclass(slots=True)
class Harvest:
    """The files read so far, and the paths of what is neither a file nor a link."""

    files: dict[str, File] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    taking: Taking = field(default_factory=Taking)

    def read(self, directory: str) -> None:
        """Read all files and links below a directory but for ``.git`` at any depth.

        Links are read as links. A directory that is gone, or is something else by now, holds
        no file.

        Raises:
            TooLargeError: a limit is reached.
        """
        try:
            top = open_directory(directory)
        except (FileNotFoundError, NotADirectoryError):
            self.skipped.append(".")
            return
        self._read_directory(top, b"", 0)

    def describe_skipped(self) -> str:
        """Name what was not taken, the first few by path."""
        return describe_paths(self.skipped)

    def _read_directory(self, place: int, prefix: bytes, depth: int) -> None:
        """Read an open directory, and close it."""
        try:
            if depth:
                self.taking.add_directory(depth)
            for name in sorted(map(os.fsencode, _names(place))):
                if name.lower() != b".git":
                    self._read_entry(place, name, prefix + name, depth)
        finally:
            os.close(place)

    def _read_entry(self, parent: int, name: bytes, path: bytes, depth: int) -> None:
        key = path.decode("utf-8", "surrogateescape")
        try:
            place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        except FileNotFoundError:
            return
        try:
            status = os.fstat(place)
            if stat.S_ISDIR(status.st_mode):
                self._read_directory(reopen_directory(place), path + b"/", depth + 1)
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(b"", dir_fd=place)
                self.taking.add_file(len(target), key)
                self.files[key] = File(data=target, mode=FileMode.SYMLINK)
            elif stat.S_ISREG(status.st_mode):
                self.taking.add_file(status.st_size, key)
                self.files[key] = _read_file(place, status)
            else:
                self.skipped.append(key)
        finally:
            os.close(place)


def _read_file(place: int, status: os.stat_result) -> File:
    make_accessible(place, 0o400)
    with Path(f"/proc/self/fd/{place}").open("rb") as stream:
        content = stream.read(status.st_size)  # not more, should it grow meanwhile
    executable = status.st_mode & stat.S_IXUSR
    return File(data=content, mode=FileMode.EXECUTABLE if executable else FileMode.REGULAR)


def _names(place: int) -> list[str]:
    """Return the names in a directory, at most as many as could be taken."""
    names: list[str] = []
    limit = MAX_FILES + MAX_DIRECTORIES
    with os.scandir(place) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) > limit:
                raise TooLargeError(f"more than {limit} entries in one directory")
    return names

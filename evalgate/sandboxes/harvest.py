"""Reading back what a program left in a directory, without trusting any of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalgate.core.files import File, FileMode
from evalgate.sandboxes.removal import make_accessible, open_directory, reopen_directory

MAX_BYTES = 32 * 1024 * 1024
MAX_FILES = 20_000
MAX_DIRECTORIES = 20_000
#: Deeper than any real project; every level holds a descriptor open while it is read.
MAX_DEPTH = 128
_NAMED = 20


class TooLargeError(Exception):
    """There is more than is taken back; the message says which limit was reached."""


@dataclass(slots=True)
class Harvest:
    """The files read so far, and the paths of what is neither a file nor a link."""

    files: dict[str, File] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    size: int = 0
    directories: int = 0

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
            self.directories += 1
            if self.directories > MAX_DIRECTORIES or depth > MAX_DEPTH:
                raise TooLargeError(
                    f"more than {MAX_DIRECTORIES} directories, or {MAX_DEPTH} within one another",
                )
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
                self._keep(key, File(data=target, mode=FileMode.SYMLINK))
            elif stat.S_ISREG(status.st_mode):
                self._keep(key, self._read_file(place, status))
            else:
                self.skipped.append(key)
        finally:
            os.close(place)

    def _read_file(self, place: int, status: os.stat_result) -> File:
        if status.st_size > MAX_BYTES - self.size:
            raise TooLargeError(f"more than {MAX_BYTES} bytes")
        make_accessible(place, 0o400)
        with Path(f"/proc/self/fd/{place}").open("rb") as stream:
            content = stream.read(status.st_size)  # not more, should it grow meanwhile
        executable = status.st_mode & stat.S_IXUSR
        return File(data=content, mode=FileMode.EXECUTABLE if executable else FileMode.REGULAR)

    def _keep(self, path: str, file: File) -> None:
        self.size += len(file.data)
        if self.size > MAX_BYTES:
            raise TooLargeError(f"more than {MAX_BYTES} bytes")
        if len(self.files) >= MAX_FILES:
            raise TooLargeError(f"more than {MAX_FILES} files")
        self.files[path] = file


def describe_paths(paths: Sequence[str]) -> str:
    """Name the first few of some paths, and count the rest."""
    more = len(paths) - _NAMED
    return ", ".join(map(repr, paths[:_NAMED])) + (f" and {more} more" if more > 0 else "")


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

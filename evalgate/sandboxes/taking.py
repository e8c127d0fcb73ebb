"""How much is taken back from a sandbox, and a count of what was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_FILES: Final = 20_000
MAX_DIRECTORIES: Final = 20_000
#: Deeper than any real project; every level holds a descriptor open while it is read.
MAX_DEPTH: Final = 128
#: In bytes; the kernel takes 4,096 at once, with the place before it.
MAX_PATH: Final = 4000
_NAMED: Final = 20


class TooLargeError(Exception):
    """There is more than is taken back; the message says which limit was reached."""


@dataclass(slots=True)
class Taking:
    """What was taken of one place so far: bytes, files and links, and directories."""

    size: int = 0
    files: int = 0
    directories: int = 0

    def add_file(self, size: int, path: str) -> None:
        """Count a file or link of so many bytes.

        Raises:
            TooLargeError: with it there is more than is taken back.
        """
        self.size += size
        self.files += 1
        if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH:
            raise TooLargeError(f"more than {MAX_PATH} bytes in a path")
        if self.size > MAX_BYTES:
            raise TooLargeError(f"more than {MAX_BYTES} bytes")
        if self.files > MAX_FILES:
            raise TooLargeError(f"more than {MAX_FILES} files")

    def add_directory(self, depth: int) -> None:
        """Count a directory; one in the place itself has the depth 1.

        Raises:
            TooLargeError: with it there are more than are taken back, or one lies too deep.
        """
        self.directories += 1
        if self.directories > MAX_DIRECTORIES or depth > MAX_DEPTH:
            raise TooLargeError(
                f"more than {MAX_DIRECTORIES} directories, or {MAX_DEPTH} within one another"
            )


def describe_paths(paths: Sequence[str]) -> str:
    """Name the first few of some paths, and count the rest."""
    more = len(paths) - _NAMED
    return ", ".join(map(repr, paths[:_NAMED])) + (f" and {more} more" if more > 0 else "")

"""What comes back from a container, read without trusting it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.files import File, FileMode, Tree, is_safe_path
from evalgate.sandboxes.taking import MAX_DIRECTORIES, MAX_FILES, Taking, describe_paths

#: A list of files is cut off at so many bytes: it is longer than any that would be taken.
MAX_LIST: Final = (MAX_FILES + MAX_DIRECTORIES) * 4096


@dataclass(slots=True)
class Listing:
    """What a place holds in the end: modes of files and links, and what is neither.

    What was there before and is as it was counts towards no limit.
    """

    modes: dict[str, FileMode] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    fresh: set[str] = field(default_factory=set)
    taking: Taking = field(default_factory=Taking)

    def add(self, kind: str, mode: int, size: int, path: str, *, fresh: bool) -> None:
        """Take one entry; a ``fresh`` one is younger than the program, and counts.

        Raises:
            TooLargeError: there is more than is taken back.
        """
        if kind == "d":
            if fresh:
                self.taking.add_directory(path.count("/") + 1)
        elif kind in {"f", "l"}:
            executable = FileMode.EXECUTABLE if mode & 0o100 else FileMode.REGULAR
            self.modes[path] = FileMode.SYMLINK if kind == "l" else executable
            if fresh:
                self.fresh.add(path)
                self.taking.add_file(size, path)
        else:
            self.skipped.append(path)

    def described(self) -> str:
        """Name what is not taken, the first few by path."""
        return describe_paths(self.skipped)


def read_listing(data: bytes, place: str) -> Listing:
    """Read the entries ``+KIND MODE SIZE PATH`` of one place, each ended by a NUL byte.

    With ``-`` in place of ``+`` nothing was done to it since the program began. Places themselves
    are entries as well.

    Raises:
        TooLargeError: there is more than is taken back.
        ValueError: this is no such list.
    """
    listing = Listing()
    for entry in filter(None, data.split(b"\0")):
        kind, mode, size, path = entry.decode("utf-8", "surrogateescape").split(" ", 3)
        of, below, rest = path.partition("/")
        if below and not is_safe_path(rest):
            raise ValueError(f"{path!r} is no path of a file")
        if below and of == place:
            listing.add(kind[1:], int(mode, 8), int(size), rest, fresh=kind[:1] == "+")
    return listing


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the contents by path of a tar's files, and the targets of its links.

    Nothing is written anywhere. Of what is neither file nor link nothing is taken.

    Raises:
        ValueError: this is no whole tar.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as tar:
            for entry in tar:
                if entry.issym():
                    found[entry.name] = entry.linkname.encode("utf-8", "surrogateescape")
                elif entry.isreg():
                    if entry.sparse is not None or entry.size > len(data):
                        raise ValueError(f"{entry.name}: its size is not that of what was sent")
                    stream = tar.extractfile(entry)
                    found[entry.name] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error
    return found


def restore(
    place: str, laid: Tree, listing: Listing, changed: Mapping[str, bytes]
) -> dict[str, File]:
    """Return a place's files: those that were changed, and those that are as they were laid.

    What is neither was there before anything was laid: the image's, and no business of ours.

    Raises:
        TooLargeError: with what came under another name there is more than is taken back.
        ValueError: a file was changed and not sent.
    """
    tree: dict[str, File] = {}
    for path, mode in listing.modes.items():
        data = changed.get(f"{place}/{path}")
        if data is not None:
            if path not in listing.fresh:  # old, and moved here
                listing.taking.add_file(len(data), path)
            tree[path] = File(data=data, mode=mode)
        elif path in listing.fresh:
            raise ValueError(f"{place}/{path} did not come back")
        elif path in laid:
            tree[path] = laid[path]
    return tree

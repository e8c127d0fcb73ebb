"""Trees as a tar that is sent into a container, and what comes back read without trusting it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.files import File, FileMode, Tree
from evalgate.sandboxes.layout import RIGHTS, check_tree, directories
from evalgate.sandboxes.taking import MAX_DIRECTORIES, MAX_FILES, Taking, describe_paths

#: Files in a container are as old as this (2020-01-01), whenever a trial is made.
_TIME: Final = 1_577_836_800

#: A list of files is cut off at so many bytes: it is longer than any that would be taken.
MAX_LIST: Final = (MAX_FILES + MAX_DIRECTORIES) * 4096


def pack_tree(tree: Tree) -> bytes:
    """Return a tar of a tree alone, the same bytes for the same tree.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    check_tree(tree, "an image", allow_git=False)
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as tar:
        for path in sorted(tree):
            _add_file(tar, path, tree[path], 0o777)
    return stream.getvalue()


def pack(places: Sequence[str], trees: Mapping[str, Tree], *, sealed: Sequence[str]) -> bytes:
    """Return a tar of the places, each a directory with its tree in it.

    What is ``sealed`` can not be written by its owner without changing modes first.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as tar:
        for place in places:
            tree = trees.get(place, {})
            check_tree(tree, place, allow_git=place == "repo")
            mask = 0o555 if place in sealed else 0o777
            # Each directory is followed by all it holds: tar then takes the right to write from it.
            for path in sorted(["", *directories(tree), *tree], key=lambda name: name.split("/")):
                file, name = tree.get(path), f"{place}/{path}".rstrip("/")
                if file is None:
                    _add(tar, name, tarfile.DIRTYPE, 0o755 & mask)
                else:
                    _add_file(tar, name, file, mask)
    return stream.getvalue()


def _add_file(tar: tarfile.TarFile, name: str, file: File, mask: int) -> None:
    if file.mode is FileMode.SYMLINK:
        _add(tar, name, tarfile.SYMTYPE, 0o777, link=file.data)
    else:
        _add(tar, name, tarfile.REGTYPE, RIGHTS[file.mode] & mask, data=file.data)


def _add(
    tar: tarfile.TarFile, name: str, kind: bytes, mode: int, *, data: bytes = b"", link: bytes = b""
) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime, entry.size = kind, mode, _TIME, len(data)
    entry.uid = entry.gid = 1000
    entry.linkname = link.decode("utf-8", "surrogateescape")
    tar.addfile(entry, io.BytesIO(data))


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
                self.taking.add_file(size)
        else:
            self.skipped.append(path)

    def described(self) -> str:
        """Name what is not taken, the first few by path."""
        return describe_paths(self.skipped)


def read_listing(data: bytes, place: str) -> Listing:
    """Read the entries ``+KIND MODE SIZE PATH`` of one place, each ended by a NUL byte.

    With ``-`` in place of ``+`` nothing was done to it since the program began.

    Raises:
        TooLargeError: there is more than is taken back.
        ValueError: this is no such list.
    """
    listing = Listing()
    start = f"{place}/"
    for entry in data.split(b"\0"):
        words = entry.decode("utf-8", "surrogateescape").split(" ", 3)
        if len(words) == len("kmsp") and words[3].startswith(start):
            kind, path = words[0], words[3].removeprefix(start)
            mode, size = int(words[1], 8), int(words[2])
            listing.add(kind[1:], mode, size, path, fresh=kind[:1] == "+")
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
                    stream = tar.extractfile(entry)
                    found[entry.name] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(str(error)) from error
    return found


def restore(
    place: str, laid: Tree, listing: Listing, changed: Mapping[str, bytes]
) -> dict[str, File]:
    """Return a place's files: those that were changed, and those that are as they were laid.

    What is neither was there before anything was laid: the image's, and no business of ours.

    Raises:
        ValueError: a file was changed and not sent.
    """
    tree: dict[str, File] = {}
    for path, mode in listing.modes.items():
        data = changed.get(f"{place}/{path}")
        if data is not None:
            tree[path] = File(data=data, mode=mode)
        elif path in listing.fresh:
            raise ValueError(f"{place}/{path} did not come back")
        elif path in laid:
            tree[path] = laid[path]
    return tree

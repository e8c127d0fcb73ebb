"""Trees as a tar that is sent into a container."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from evalgate.core.files import File, FileMode, Tree
from evalgate.sandboxes.layout import RIGHTS, check_tree, directories

#: Files in a container are as old as this (2020-01-01), whenever a trial is made.
_TIME: Final = 1_577_836_800
_LONGEST: Final = 100
_END: Final = bytes(tarfile.BLOCKSIZE * 2)
#: Where the fields of a header lie (POSIX.1-1988 ustar).
_SIZE, _TIMES, _SUM, _KIND = 124, 136, 148, 156


def pack_tree(tree: Tree) -> bytes:
    """Return a tar of a tree alone, the same bytes for the same tree.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    check_tree(tree, "an image", allow_git=False)
    return _whole([part for path in sorted(tree) for part in _file(path, tree[path], 0o777)])


def pack(places: Sequence[str], trees: Mapping[str, Tree], *, sealed: Sequence[str]) -> bytes:
    """Return a tar of the places, each a directory with its tree in it.

    What is ``sealed`` can not be written by its owner without changing modes first.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    parts: list[bytes] = []
    for place in places:
        tree = trees.get(place, {})
        check_tree(tree, place, allow_git=place == "repo")
        mask = 0o555 if place in sealed else 0o777
        # Each directory is followed by all it holds: tar then takes the right to write from it.
        for path in sorted(["", *directories(tree), *tree], key=lambda name: name.split("/")):
            file, name = tree.get(path), f"{place}/{path}".rstrip("/")
            if file is None:
                parts.append(_header(name, tarfile.DIRTYPE, 0o755 & mask))
            else:
                parts += _file(name, file, mask)
    return _whole(parts)


def _whole(parts: list[bytes]) -> bytes:
    parts.append(_END)
    parts.append(bytes(-sum(map(len, parts)) % tarfile.RECORDSIZE))
    return b"".join(parts)


def _file(name: str, file: File, mask: int) -> Iterator[bytes]:
    if file.mode is FileMode.SYMLINK:
        yield _header(name, tarfile.SYMTYPE, 0o777, link=file.data)
        return
    size = len(file.data)
    yield _header(name, tarfile.REGTYPE, RIGHTS[file.mode] & mask, size=size)
    yield file.data
    yield bytes(-size % tarfile.BLOCKSIZE)


def _header(name: str, kind: bytes, mode: int, *, size: int = 0, link: bytes = b"") -> bytes:
    """Return an entry's header; that of a usual file is a known one with name, size and sum set."""
    encoded = name.encode("utf-8", "surrogateescape")
    if len(encoded) > _LONGEST or kind != tarfile.REGTYPE:
        return _whole_header(name, kind, mode, size, link)
    between, rest, total = _blank(mode)
    length = b"%011o\0" % size
    total += sum(encoded) + sum(length)
    return b"%b%b%b%b%06o\0 %b" % (
        *(encoded.ljust(_LONGEST, b"\0"), between[: _SIZE - _LONGEST], length),
        *(between[_TIMES - _LONGEST :], total, rest),
    )


@cache
def _blank(mode: int) -> tuple[bytes, bytes, int]:
    """Return the header of a file without name or size before and after its sum, and that sum."""
    header = _whole_header("", tarfile.REGTYPE, mode, 0, b"")
    total = int(header[_SUM : _SUM + 6], 8) - sum(header[_SIZE:_TIMES])
    return header[_LONGEST:_SUM], header[_KIND:], total


def _whole_header(name: str, kind: bytes, mode: int, size: int, link: bytes) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime, entry.size = kind, mode, _TIME, size
    entry.uid = entry.gid = 1000
    entry.linkname = link.decode("utf-8", "surrogateescape")
    return entry.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")

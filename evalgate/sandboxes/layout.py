"""Laying a tree of files into an empty directory, and refusing what would leave it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from evalgate.core.files import FileMode, Tree, is_safe_path
from evalgate.errors import UsageError

#: The modes of files wherever they are laid.
RIGHTS: Final = {FileMode.REGULAR: 0o644, FileMode.EXECUTABLE: 0o755}


def lay_tree(tree: Tree, directory: Path, *, allow_git: bool) -> None:
    """Write every file of a tree below an empty directory; links are made, never followed.

    Raises:
        UsageError: a path that leaves the directory, goes through a link or a file, or, when
            not allowed, names git's own files.
    """
    check_tree(tree, directory.name, allow_git=allow_git)
    for parent in directories(tree):
        place = Path(os.fsdecode(_below(directory, parent)))
        place.mkdir()
        place.chmod(0o755)
    for path, file in tree.items():
        name = _below(directory, path)
        if file.mode is FileMode.SYMLINK:
            Path(os.fsdecode(name)).symlink_to(os.fsdecode(file.data))
        else:
            _write(name, file.data, RIGHTS[file.mode])


def seal(directory: Path) -> None:
    """Take the right to write from a directory and from all it holds; links are left alone."""
    for parent, _, files in os.walk(directory, topdown=False):
        for name in files:
            place = Path(parent, name)
            if not place.is_symlink():
                place.chmod(place.stat().st_mode & 0o555)
        Path(parent).chmod(0o555)


def check_tree(tree: Tree, name: str, *, allow_git: bool) -> None:
    """Refuse a tree that can not be laid below a place of its own.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    safe = _is_safe if allow_git else is_safe_path
    for path, file in tree.items():
        if not safe(path):
            raise UsageError(f"unsafe path in the files for {name}: {path!r}")
        if file.mode is FileMode.SYMLINK and (not file.data or b"\0" in file.data):
            raise UsageError(f"malformed link in the files for {name}: {path!r}")
    for parent in directories(tree):
        if parent in tree:
            raise UsageError(
                f"unsafe path in the files for {name}: {parent!r} is not a directory,"
                " but something is to be laid below it",
            )


def _is_safe(path: str) -> bool:
    """Tell whether a path stays inside: like `is_safe_path`, with git's own files allowed."""
    parts = path.split("/")
    return bool(path) and "\0" not in path and not {"", ".", ".."}.intersection(parts)


def directories(tree: Tree) -> list[str]:
    """Return all directories of a tree, outer ones first."""
    found: set[str] = set()
    for path in tree:
        parent = path.rpartition("/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return sorted(found, key=lambda parent: parent.count("/"))


def _below(directory: Path, path: str) -> bytes:
    return os.fsencode(directory) + b"/" + path.encode("utf-8", "surrogateescape")


def _write(place: bytes, content: bytes, rights: int) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, rights)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        os.fchmod(descriptor, rights)  # whatever the umask

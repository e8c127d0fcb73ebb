"""A file as bytes with a mode, and a tree of them: the currency between layers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class FileMode(StrEnum):
    """The modes git knows for a file in a tree."""

    REGULAR = "100644"
    EXECUTABLE = "100755"
    SYMLINK = "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file: its bytes (for a symbolic link, the target) and its git mode."""

    data: bytes
    mode: FileMode = FileMode.REGULAR


#: Relative POSIX path (bytes outside UTF-8 as surrogate escapes) -> file.
Tree: TypeAlias = Mapping[str, File]


def tree_digest(tree: Tree, *, domain: str) -> str:
    """Return the SHA-256 (64 hex) of a tree's modes, paths and contents.

    ``domain`` names what is hashed, so that equal bytes of two kinds never meet.
    """
    total = hashlib.sha256(domain.encode() + b"\0")
    for path in sorted(tree, key=_as_bytes):
        file = tree[path]
        content = hashlib.sha256(file.data).hexdigest()
        total.update(f"{file.mode} {content} ".encode() + _as_bytes(path) + b"\0")
    return total.hexdigest()


def subtree(tree: Tree, prefix: str) -> dict[str, File]:
    """Return the files below ``prefix`` with the prefix removed."""
    start = prefix.rstrip("/") + "/"
    return {path[len(start) :]: file for path, file in tree.items() if path.startswith(start)}


def is_safe_path(path: str) -> bool:
    """Tell whether a relative path stays inside its tree and outside ``.git``."""
    parts = path.split("/")
    return bool(path) and "\0" not in path and not _hostile(parts)


def shadowed(paths: Iterable[str]) -> str:
    """Say which path lies in another one that is a file, so that no disk holds both; or nothing."""
    known = set(paths)
    for path in sorted(known):
        parts = path.split("/")
        for length in range(1, len(parts)):
            if (over := "/".join(parts[:length])) in known:
                return f"{path!r} lies in {over!r}, which is no folder"
    return ""


def _hostile(parts: Iterable[str]) -> bool:
    return any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts)


def _as_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")

"""Globs of the configuration as pathspecs of git: one glob engine for every state."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.errors import UsageError

_SPECIAL = "\\*?["


def to_pathspecs(globs: Sequence[str], *, root: str = "") -> tuple[str, ...]:
    """Return the pathspecs for ``globs`` relative to the directory ``root`` of the tree."""
    return tuple(_pathspec(glob, root.strip("/")) for glob in globs)


def literal(path: str) -> str:
    """Return the pathspec for a file or directory by its exact name."""
    return f":(top,literal){path}"


def _pathspec(glob: str, root: str) -> str:
    if not glob or glob.startswith("/") or ".." in glob.split("/") or "\0" in glob:
        message = f"not a glob inside the project: {glob!r}"
        raise UsageError(message, hint="globs are relative, without '..', like prompts/**")
    escaped = "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in root)
    return f":(top,glob){escaped}/{glob}" if root else f":(top,glob){glob}"

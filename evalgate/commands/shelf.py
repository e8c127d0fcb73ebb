"""Where the recordings of a project lie: a folder of the repository, or one outside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalgate.core.files import File
from evalgate.errors import UsageError
from evalgate.repo.treeview import TreeView


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The folder of the recordings.

    ``folder`` is its place on disk; ``within`` its path in the repository, None when it lies
    outside; ``name`` what it is called to people.
    """

    folder: Path
    within: str | None
    name: str

    @property
    def outside(self) -> bool:
        """Tell whether no commit can hold what lies there."""
        return self.within is None

    def read(self, view: TreeView) -> Mapping[str, File]:
        """Return all files by their path below the folder: from the tree, or from disk."""
        return self.on_disk() if self.within is None else view.read_prefix(self.within)

    def paths(self, view: TreeView) -> tuple[str, ...]:
        """Return the paths of all files below the folder; nothing is read of the tree's."""
        if self.within is None:
            return tuple(self.on_disk())
        return view.paths_below(self.within)

    def on_disk(self) -> dict[str, File]:
        """Return all files on disk, links and what a writer has not finished left out."""
        return {path: File(data=data) for path, data in files_below(self.folder)}


def files_below(folder: Path, *, hidden: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield path below a folder and content of each file, in order; links are none.

    ``hidden`` are those with a name, or in a folder, that begins with a dot: what a writer has
    not finished. UsageError naming what is neither a file nor a folder: a pipe would be read for
    ever.
    """
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        seen = hidden or not any(part.startswith(".") for part in within.parts)
        if not seen or path.is_symlink() or path.is_dir():
            continue
        if not path.is_file():
            raise UsageError(f"{path} is no file that can be read", hint="remove it")
        yield within.as_posix(), path.read_bytes()


def shelf_of(path: str, *, root: Path, top: Path, source: str) -> Shelf:
    """Return the shelf that ``[cassettes] path`` names, in a project at ``root``.

    UsageError naming the configuration when it holds the project itself, or lies in .git.
    """
    # Not resolved: what git calls the folder is the path as it is written.
    folder = Path(os.path.normpath(root / Path(path).expanduser()))
    if root.is_relative_to(folder) or ".git" in folder.relative_to(folder.anchor).parts:
        message = f"{source}: cassettes.path: {path!r} is no folder for recordings alone"
        raise UsageError(message, hint='name one of their own, as path = "cassettes"')
    inside = folder.is_relative_to(top)
    return Shelf(
        folder=folder,
        within=folder.relative_to(top).as_posix() if inside else None,
        name=folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder),
    )

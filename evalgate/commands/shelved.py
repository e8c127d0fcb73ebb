"""The files on a project's shelf, each with its place: whose recording should lie there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalgate.commands.project import State
from evalgate.runner.recorded import RecordedTrial, load_recorded

#: The name of the folder of a harness.
FOLDER = re.compile(r"[0-9a-f]{12}")

_PLACE = re.compile(rf"({FOLDER.pattern})/([^/]+)/([1-9][0-9]*)\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelved:
    """A file on the shelf: ``path`` below it, ``name`` for people, what it holds.

    ``short`` is the folder of its harness, ``key`` that of its task, ``n`` its number; all are
    empty, and 0, where no recording should lie.
    """

    path: str
    name: str
    data: bytes
    short: str = ""
    key: str = ""
    n: int = 0

    @property
    def folder(self) -> str:
        """The folder of the shelf that it lies in, whatever its place there; else empty."""
        return self.path.partition("/")[0] if "/" in self.path else ""

    def load(self) -> RecordedTrial:
        """Read it; UsageError when it is damaged."""
        return load_recorded(self.data, name=self.name)


def recorded_harnesses(state: State) -> frozenset[str]:
    """Return the folders of the harnesses that have a recording; no recording is read."""
    places = (_PLACE.fullmatch(path) for path in state.shelf.paths(state.view))
    return frozenset(place[1] for place in places if place)


def shelved(state: State) -> list[Shelved]:
    """Return every file on the shelf, in order of harness, task and number."""
    shelf = state.shelf
    found = []
    for path, file in shelf.read(state.view).items():
        place = _PLACE.fullmatch(path)
        short, key, n = (place[1], place[2], int(place[3])) if place else ("", "", 0)
        name = f"{shelf.name}/{path}"
        one = Shelved(path=path, name=name, data=file.data, short=short, key=key, n=n)
        found.append(one)
    return sorted(found, key=lambda one: (one.short, one.key, one.n, one.path))

"""The one cassette that somebody names, found on a project's shelf or on disk."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.cassettes.settings import Find, Settings
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.shelved import Shelved, shelved
from evalgate.core.identity import storage_key
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.format.journal import load_journal

_LIST = "evalgate cassette list names what there is"
_JOURNAL = b'{"kind":"evalgate journal"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A cassette that somebody named; ``whole`` is False for the journal of a broken recording."""

    name: str
    data: bytes
    tape: CassetteFile
    whole: bool = True


def find_named(
    find: Find, asked: str, *, directory: Path, rev: str | None
) -> tuple[Named, Settings]:
    """Return the cassette that is named, and what is configured where it is.

    A file in ``directory`` needs no project, but with a ``rev``; everything else is looked for
    by `find_cassette`. UsageError when it is neither, also where there is no project.
    """
    place = directory / asked
    if rev is None and place.is_file():
        return read_named(place, name=asked), Settings.here(find)
    if rev is None and place.exists() and not place.is_dir():
        raise UsageError(f"{asked} is no file that can be read", hint="name the file of a cassette")
    with open_state(_project(find, asked, rev), subject_of(rev)) as state:
        return find_cassette(state, asked), Settings.of(state)


def _project(find: Find, asked: str, rev: str | None) -> Project:
    try:
        return find()
    except UsageError as error:
        if rev is not None:
            raise
        message = f"there is no file {asked!r}, and no project to look into: {error.message}"
        hint = "name the file of a cassette, or work in a repository that uses evalgate"
        raise UsageError(message, hint=hint) from error


def find_cassette(state: State, asked: str) -> Named:
    """Return the cassette named by a path in the project, or by ``TASK`` or ``TASK:N``.

    A task's is that of the state's own harness; of another one only when no second one was
    recorded. UsageError when there is none, or more than one harness has it.
    """
    all_ = [one for one in shelved(state) if one.short]
    for one in all_:
        if one.name == asked:
            return _named(one.name, one.data)
    task, _, number = asked.rpartition(":")
    if not number.isdecimal() or not task:
        task, number = asked, ""
    key = storage_key(task)
    numbers = {int(number)} if number else {one.n for one in all_}
    having = [one for one in all_ if one.key == key and one.n in numbers]
    shorts = sorted({one.short for one in having})
    own = state.fingerprint.short
    if own not in shorts and len(shorts) > 1:
        message = f"{asked} was recorded of {', '.join(shorts)}, and not of this harness ({own})"
        raise UsageError(message, hint="name the file, or the revision with --rev")
    short = own if own in shorts else "".join(shorts)
    for one in having:
        if one.short == short:
            return _named(one.name, one.data)
    raise UsageError(f"there is no recording {asked!r}", hint=_near(asked, state, all_))


def read_named(path: Path, *, name: str) -> Named:
    """Read a file. UsageError when it is no cassette and no journal."""
    return _named(name, path.read_bytes())


def _named(name: str, data: bytes) -> Named:
    if data.startswith(_JOURNAL):
        return Named(name=name, data=data, tape=load_journal(data, name=name), whole=False)
    return Named(name=name, data=data, tape=load_cassette(data, name=name))


def _near(asked: str, state: State, all_: Sequence[Shelved]) -> str:
    if not all_:
        return "nothing is recorded yet: evalgate run --record"
    names = [task.id for task in state.tasks]
    near = difflib.get_close_matches(asked.partition(":")[0], names, n=1)
    return f"did you mean {near[0]}? {_LIST}" if near else _LIST

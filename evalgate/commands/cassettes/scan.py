"""`evalgate cassette scan`: does anything that is stored hold a secret? For CI."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.answer import Answer
from evalgate.commands.cassettes.leaks import Leak, scan_file
from evalgate.commands.cassettes.settings import Find, Settings
from evalgate.commands.project import State, open_state, subject_of
from evalgate.commands.shelf import files_below
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.redaction import Redactor
from evalgate.errors import ExitCode, UsageError
from evalgate.gateway.providers import secrets_of

_BASELINES = "baselines"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """What the command line says: files and folders on disk, or all that a state stores."""

    paths: Sequence[Path] = ()
    directory: Path = Path()
    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A file to look through; ``cassette`` tells that it should be one."""

    name: str
    data: bytes
    cassette: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """How many files were looked through, and what was found; what is unreadable says why."""

    files: int
    leaks: Sequence[Leak]
    unreadable: Sequence[str]


def scan_cassettes(find: Find, options: ScanOptions) -> Answer:
    """Look for known keys and for those of well-known providers; exit 6 when one is found.

    Without paths these are the recordings, the baselines and the ledger: as they are on disk,
    ignored files among them, or as they are in a revision. Paths need no project.
    """
    if options.paths and options.rev is None:
        settings = Settings.here(find)
        found = _scan(_given(options), settings)
    else:
        with open_state(find(), subject_of(options.rev)) as state:
            settings = Settings.of(state)
            found = _scan(_given(options) if options.paths else _stored(state, options), settings)
    files, leaks, unreadable = found.files, found.leaks, found.unreadable
    value: dict[str, Json] = {
        "files": files,
        "leaks": [leak.to_json() for leak in leaks],
        "unreadable": [*unreadable],
        "unconfigured": settings.lacking,
    }
    lines = [leak.line for leak in leaks]
    lines += [f"{said}: scanned as bytes" for said in unreadable]
    lines.append(f"{counted(files, 'file')} scanned, {_count(leaks)}")
    if settings.lacking:
        lines.append(f"keys of models are known by usual names only: {settings.lacking}")
    if leaks:
        lines.append("change the keys that were found: they are in the history of git as well")
    code = ExitCode.VOID if leaks else ExitCode.OK
    return Answer(text="\n".join(lines), value=value, code=code)


def _scan(stored: Iterable[_Stored], settings: Settings) -> _Found:
    redactor = Redactor(secrets_of(settings.models, os.environ))
    files, leaks, unreadable = 0, list[Leak](), list[str]()
    for one in stored:
        found = scan_file(one.data, name=one.name, redactor=redactor, cassette=one.cassette)
        files += 1
        leaks += found.leaks
        unreadable += [found.unreadable] if found.unreadable else []
    return _Found(files=files, leaks=leaks, unreadable=unreadable)


def _count(leaks: Sequence[Leak]) -> str:
    places = len(leaks)
    return (
        f"{counted(places, 'secret')} in {len({one.file for one in leaks})} of them"
        if places
        else "clean"
    )


def _stored(state: State, options: ScanOptions) -> Iterator[_Stored]:
    shelf, project = state.shelf, state.project
    if options.rev is None:
        baselines = dict(files_below(project.root / _BASELINES, hidden=True))
        recordings = dict(files_below(shelf.folder, hidden=True))
    else:
        tree = state.view.read_prefix(project.within(_BASELINES))
        baselines = {path: file.data for path, file in tree.items()}
        recordings = {path: file.data for path, file in shelf.read(state.view).items()}
    for name, data in recordings.items():
        yield _Stored(name=f"{shelf.name}/{name}", data=data, cassette=name.endswith(".json"))
    for name, data in baselines.items():
        yield _Stored(name=f"{_BASELINES}/{name}", data=data, cassette=False)


def _given(options: ScanOptions) -> Iterator[_Stored]:
    for path in options.paths:
        yield from _at(options.directory / path)


def _at(path: Path) -> Iterator[_Stored]:
    if path.is_file():
        json = path.suffix == ".json"
        yield _Stored(name=str(path), data=path.read_bytes(), cassette=json)
    elif path.is_dir():
        for inner, data in files_below(path, hidden=True):
            yield _Stored(name=f"{path}/{inner}", data=data, cassette=inner.endswith(".json"))
    else:
        said = "is neither a file nor a folder" if path.exists() else "does not exist"
        raise UsageError(f"{path} {said}", hint="name files or folders to scan")

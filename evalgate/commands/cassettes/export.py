"""`evalgate cassette export`: exchanges for other tools, and recordings that were put aside."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evalgate.commands.answer import Answer
from evalgate.commands.cassettes.finding import Named, find_cassette, read_named
from evalgate.commands.cassettes.har import har_of
from evalgate.commands.cassettes.retention import files_aside
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.recordings import header_of, mixture, place_of
from evalgate.commands.shelf import files_below
from evalgate.commands.shelved import shelved
from evalgate.core.exchange import Exchange
from evalgate.core.files import is_safe_path
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.gateway.keys.canonical import decode_exactly
from evalgate.runner.recorded import load_recorded

#: Written to stdout; any other word is a folder to which the cassettes themselves are copied.
FORMATS: Final = ("har", "jsonl")

#: So many files are named; the rest is counted.
_FEW: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What the command line says; ``ref`` names a ref to take from instead of a state."""

    to: str
    directory: Path
    cassettes: Sequence[str] = ()
    rev: str | None = None
    ref: str | None = None


def export_cassettes(project: Project, options: ExportOptions) -> Answer:
    """Export the named cassettes, all of a state by default, or all that a ref keeps."""
    if options.ref is not None:
        return _from_ref(project, options, options.ref)
    with open_state(project, subject_of(options.rev)) as state:
        found = _found(state, options)
    if options.to == "har":
        value = har_of([(one.name, one.tape) for one in found])
        return Answer(text=json.dumps(value, ensure_ascii=False, indent=1), value=value)
    if options.to == "jsonl":
        lines = [
            _line(one.name, number, exchange)
            for one in found
            for number, exchange in enumerate(one.tape.exchanges)
        ]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        return Answer(text=text, value={"exchanges": [*lines]})
    copies = {place_of(load_recorded(one.data, name=one.name)): one.data for one in found}
    return _copied(options.directory / options.to, copies)


def _found(state: State, options: ExportOptions) -> list[Named]:
    names = options.cassettes or [one.name for one in shelved(state) if one.short]
    if not names:
        message = f"there is no recording in {state.shelf.name}"
        raise UsageError(message, hint="record one: evalgate run --record")
    # Names of the shelf are found on it, wherever the command was called.
    look = options.rev is None and bool(options.cassettes)
    files = {name: options.directory / name for name in names if look}
    return [
        read_named(files[name], name=name)
        if name in files and files[name].is_file()
        else find_cassette(state, name)
        for name in names
    ]


def _from_ref(project: Project, options: ExportOptions, ref: str) -> Answer:
    if options.to in FORMATS or options.cassettes:
        message = "--from-ref copies all recordings of a ref to a folder"
        raise UsageError(message, hint="name the folder with --to, then export from it")
    files = {path: file.data for path, file in files_aside(project, ref).items()}
    return _copied(options.directory / options.to, files)


def _copied(folder: Path, files: Mapping[str, bytes]) -> Answer:
    for path in files:
        if not is_safe_path(path):
            raise UsageError(f"{path!r} leaves the folder", hint="the ref was made by another tool")
    _require_room(folder, files)
    for path, data in files.items():
        write_whole(folder / path, data)
    value: dict[str, Json] = {"folder": str(folder), "written": [*sorted(files)]}
    return Answer(text=f"{counted(len(files), 'recording')} written to {folder}", value=value)


def _require_room(folder: Path, files: Mapping[str, bytes]) -> None:
    """Refuse to write over another recording, or beside one of the same harness."""
    hint = "nothing was written: name another folder with --to, or remove what lies there"
    other = [path for path, data in files.items() if _differs(folder / path, data)]
    if other:
        more = f" and {len(other) - _FEW} more" if len(other) > _FEW else ""
        message = f"{folder} holds other recordings: {', '.join(sorted(other)[:_FEW])}{more}"
        raise UsageError(message, hint=hint)
    for short in sorted({path.split("/", 1)[0] for path in files}):
        coming = [header_of(data) for path, data in files.items() if path.startswith(f"{short}/")]
        there = [header_of(data) for _, data in files_below(folder / short)]
        if mixed := mixture(header for header in (*coming, *there) if header and header.recording):
            raise UsageError(f"{folder / short} would be {mixed}", hint=hint)


def _differs(path: Path, data: bytes) -> bool:
    return path.exists() and not (path.is_file() and path.read_bytes() == data)


def _line(name: str, number: int, one: Exchange) -> dict[str, Json]:
    return {
        "cassette": name,
        "exchange": number,
        "dialect": one.dialect,
        "began": one.began,
        "seconds": one.seconds,
        "request": {
            "method": one.method,
            "path": one.path,
            "query": one.query,
            "headers": dict(one.asked),
            "body": _body(one.request.data),
        },
        "response": {
            "status": one.status,
            "ending": str(one.ending),
            "headers": dict(one.headers),
            "body": _body(one.body),
        },
    }


def _body(data: bytes) -> Json:
    """Return a body as JSON where that loses nothing, else as text, else as base64."""
    exact, value = decode_exactly(data)
    if exact and isinstance(value, dict | list):
        return value
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}

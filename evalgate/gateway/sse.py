"""Server-sent events: read them, and edit the text that runs through their pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson

from evalgate.core.json import Json
from evalgate.core.redaction import Span
from evalgate.gateway.reading import member, parse

_Path: TypeAlias = tuple[str | int, ...]

#: The members of an event that tell which text its ``delta`` goes on with.
_PLACE: Final = ("type", "index", "item_id", "output_index", "content_index", "summary_index")

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")


def is_stream(body: bytes) -> bool:
    """Tell events from JSON by the first character, whatever the headers claim."""
    return body.lstrip()[:1] not in {b"{", b"[", b""}


def read_events(body: bytes) -> list[Json]:
    """Return the JSON of each event; what carries none (``[DONE]``, comments) is left out.

    A last event without its empty line counts: a cut stream is read as far as it goes.
    """
    return [value for value in map(parse, _data(body)) if value is not None]


def is_done(body: bytes) -> bool:
    """Tell whether the stream says ``[DONE]`` at its end."""
    return body.rstrip().endswith(b"[DONE]")


def _data(body: bytes) -> Iterator[bytes]:
    data: list[bytes] = []
    for line in re.split(rb"\r\n|\r|\n", body):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


@dataclass(slots=True)
class _Line:
    """One line of a stream; ``value`` is its JSON when it is a whole event by itself."""

    raw: bytes
    value: Json = None
    edited: bool = False


@dataclass(slots=True)
class _Run:
    """The pieces of one text, or texts with something between: where each stands, in order."""

    between: str = ""
    pieces: list[str] = field(default_factory=list)
    places: list[tuple[_Line, _Path]] = field(default_factory=list)


def edit_stream(body: bytes, find: Callable[[str], Sequence[Span]]) -> bytes:
    """Edit the strings of events: ``find`` sees texts that are cut into deltas joined.

    A replacement goes into the piece where its span begins. Only events that change are
    written anew; all other bytes stay as they are.
    """
    lines = [_Line(raw=match.group()) for match in _LINE.finditer(body)]
    # Whole texts are many and short, so they are searched in one go.
    runs: dict[_Path, _Run] = {(): _Run(between="\0")}
    for line in lines:
        if not line.raw.startswith(b"data:"):
            continue
        line.value = parse(line.raw[5:])
        lead = _lead(line.value)
        for path, text in _strings(line.value):
            run = runs.setdefault(_name(line.value, path, lead), _Run())
            run.pieces.append(text)
            run.places.append((line, path))
    for run in runs.values():
        _edit_run(run, find(run.between.join(run.pieces)))
    return b"".join(_written(line) if line.edited else line.raw for line in lines)


def _strings(event: Json) -> Iterator[tuple[_Path, str]]:
    """Yield path and text of each string below an event, in order."""
    waiting: list[tuple[_Path, Json]] = [((), event)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if path:
                yield path, value
        elif isinstance(value, dict):
            waiting += [((*path, name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [((*path, at), value[at]) for at in reversed(range(len(value)))]


def _lead(event: Json) -> _Path:
    known = event if isinstance(event, Mapping) else {}
    return tuple(str(known.get(name)) for name in _PLACE)


def _name(event: Json, path: _Path, lead: _Path) -> _Path:
    """Return what the pieces of one text have in common; nothing for a text that is whole.

    For a delta that is the path with each ``index`` member in place of the position in a list,
    so that parallel tool calls stay apart. One API sends its answer in pieces of the same form
    as a whole one: there the thoughts stay apart from the answer.
    """
    if "delta" in path:
        return (*lead, *_steps(event, path))
    if path[0] == "candidates" and path[-3::2] == ("parts", "text"):
        thought = member(event, *path[:-1], "thought") is True
        return (*_steps(event, path[:2]), str(thought))
    return ()


def _steps(event: Any, path: _Path) -> Iterator[str]:
    for step in path:
        event = event[step]
        if isinstance(step, int) and isinstance(event, Mapping):
            yield str(event.get("index", step))
        else:
            yield str(step)


def _edit_run(run: _Run, spans: Sequence[Span]) -> None:
    if not spans:
        return
    start = 0
    for piece, (line, path) in zip(run.pieces, run.places, strict=True):
        end = start + len(piece)
        edited = _cut(piece, start, spans)
        if edited != piece:
            _put(line.value, path, edited)
            line.edited = True
        start = end + len(run.between)


def _cut(piece: str, start: int, spans: Sequence[Span]) -> str:
    """Return a piece that begins at ``start`` of the joined text, edited."""
    end = start + len(piece)
    written: list[str] = []
    position = start
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        written.append(piece[position - start : max(span.start, start) - start])
        if span.start >= start:
            written.append(span.text)
        position = min(span.end, end)
    return "".join([*written, piece[position - start :]])


def _put(value: Json, path: tuple[str | int, ...], text: str) -> None:
    target = value
    for step in path[:-1]:
        target = target[step]  # type: ignore[index]
    target[path[-1]] = text  # type: ignore[index]


def _written(line: _Line) -> bytes:
    ending = line.raw[len(line.raw.rstrip(b"\r\n")) :]
    try:
        return b"data: " + orjson.dumps(line.value) + ending
    except orjson.JSONEncodeError:
        # Nested more deeply than can be written: no client misses it, and a secret may be in it.
        return b"data: null" + ending

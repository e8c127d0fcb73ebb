"""Server-sent events: read them, and edit the text that runs through their pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from evalgate.core.json import Json
from evalgate.core.redaction import Span
from evalgate.gateway.reading import parse

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
    """The pieces of one text: where each piece stands, in order."""

    pieces: list[str] = field(default_factory=list)
    places: list[tuple[_Line, tuple[str | int, ...]]] = field(default_factory=list)


def edit_stream(body: bytes, find: Callable[[str], Sequence[Span]]) -> bytes:
    """Edit texts that are cut into deltas: ``find`` sees each text joined.

    A replacement goes into the piece where its span begins. Only events that change are
    written anew; all other bytes stay as they are.
    """
    lines = [_Line(raw=match.group()) for match in _LINE.finditer(body)]
    runs: dict[tuple[str | int, ...], _Run] = {}
    for line in lines:
        if not line.raw.startswith(b"data:"):
            continue
        line.value = parse(line.raw[5:])
        for path, name, text in _deltas(line.value):
            run = runs.setdefault(name, _Run())
            run.pieces.append(text)
            run.places.append((line, path))
    for run in runs.values():
        _edit_run(run, find("".join(run.pieces)))
    return b"".join(_written(line) if line.edited else line.raw for line in lines)


def _deltas(event: Json) -> Iterator[tuple[tuple[str | int, ...], tuple[str | int, ...], str]]:
    """Yield path, name and text of each piece: pieces of one text have one name.

    The name is the path with each ``index`` member in place of the position in a list, so that
    parallel tool calls stay apart.
    """
    if not isinstance(event, dict):
        return
    lead = event.get("index")
    yield from _walk(event, (), (lead if isinstance(lead, int) else 0,), inside=False)


def _walk(
    value: Json, path: tuple[str | int, ...], name: tuple[str | int, ...], *, inside: bool
) -> Iterator[tuple[tuple[str | int, ...], tuple[str | int, ...], str]]:
    if isinstance(value, str):
        if inside:
            yield path, name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, (*path, key), (*name, key), inside=inside or key == "delta")
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            index = inner.get("index", position) if isinstance(inner, dict) else position
            yield from _walk(inner, (*path, position), (*name, str(index)), inside=inside)


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
        start = end


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
    return b"data: " + orjson.dumps(line.value) + ending

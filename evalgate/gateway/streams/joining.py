"""Texts that are cut over the pieces of a reply: joined, searched, edited where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson

from evalgate.core.json import Json
from evalgate.core.redaction import Span
from evalgate.gateway.streams.blocks import Find, cut, edit_blocks

_Path: TypeAlias = tuple[str | int, ...]

#: What the pieces of a text have in common, by an event and the path of a string in it; None for
#: a text that is whole.
Strand: TypeAlias = Callable[[Json, _Path], tuple[str, ...] | None]

#: The members of an event that tell which text its ``delta`` goes on with.
_PLACE: Final = ("type", "index", "item_id", "output_index", "content_index", "summary_index")

#: How the types of events end that repeat what other events have said.
_REPEATS: Final = (".done", ".completed", ".incomplete", ".failed")

#: Which text a ``delta`` that is a string goes on with, by the type of its event.
_DELTAS: Final = {
    "response.output_text.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


@dataclass(slots=True, kw_only=True)
class Link:
    """A stretch of a reply's bytes; ``value`` is its JSON when it is a whole piece by itself.

    ``before`` and ``after`` are what stands around the JSON when it is written anew.
    """

    raw: bytes
    value: Json = None
    before: bytes = b""
    after: bytes = b""
    edited: bool = False


@dataclass(slots=True)
class _Run:
    """The pieces of one text, or texts with something between: where each stands, in order."""

    between: str = ""
    pieces: list[str] = field(default_factory=list)
    places: list[tuple[Link, _Path]] = field(default_factory=list)


def edit_links(links: Sequence[Link], find: Find, strand: Strand) -> bytes:
    """Return the bytes of a reply, edited: ``find`` sees texts that are cut into pieces joined.

    A replacement goes into the piece where its span begins. Only links that change are
    written anew.
    """
    # Whole texts are many and short, so they are searched in one go.
    runs: dict[_Path, _Run] = {(): _Run(between="\0")}
    begun: dict[_Path, list[tuple[Link, _Path]]] = {}
    for link in links:
        if link.value is None:
            continue
        lead = _lead(link.value)
        for path, text in _strings(link.value):
            run = runs.setdefault(_name(link.value, path, lead, strand), _Run())
            run.pieces.append(text)
            run.places.append((link, path))
            if voice := _voice(link.value, path):
                begun.setdefault(voice, []).append((link, path))
    for run in runs.values():
        _edit_run(run, find(run.between.join(run.pieces)))
    for run in (*_rows(runs), *_begun(begun.values())):
        _edit_run(run, find("".join(run.pieces)))
    for link in links:
        link.edited = edit_blocks(link.value, find) > 0 or link.edited
    return b"".join(written(link) if link.edited else link.raw for link in links)


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


def _name(event: Json, path: _Path, lead: _Path, strand: Strand) -> _Path:
    """Return what the pieces of one text have in common; nothing for a text that is whole.

    For a delta that is the path with each ``index`` member in place of the position in a list,
    so that parallel tool calls stay apart; ``strand`` knows streams of another kind.
    """
    if "delta" in path:
        return (*lead, *_steps(event, path))
    return strand(event, path) or ()


def _rows(runs: Mapping[_Path, _Run]) -> Iterator[_Run]:
    """Yield the texts of two blocks or more, block after block, as they stand by now."""
    rows: dict[str, list[_Run]] = {}
    for name, run in runs.items():
        if name and (name[-1] == "text" or name[0] == "response.output_text.delta"):
            rows.setdefault(str(name[0]), []).append(run)
    for row in rows.values():
        if len(row) > 1:
            places = [place for run in row for place in run.places]
            yield _Run(pieces=[str(_at(link.value, path)) for link, path in places], places=places)


def _voice(event: Json, path: _Path) -> _Path:
    """Name the text that a string goes on with when its event only begins a block, or goes on.

    A dialect reads what stands in the event that begins a block before the deltas of it. Nothing
    for an event that repeats what was said.
    """
    kind = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(kind, str) or kind.endswith(_REPEATS):
        return ()
    known = _DELTAS.get(kind) if path == ("delta",) else path[-1]
    if known in {"arguments", "input"}:
        place = event.get("output_index", event.get("index"))  # type: ignore[union-attr]
        return (known, str(place))
    if known == "text" and kind.startswith("response.reasoning"):
        return ("thinking",)
    return (known,) if known in {"text", "thinking", "refusal"} else ()


def _begun(voices: Iterable[list[tuple[Link, _Path]]]) -> Iterator[_Run]:
    """Yield the texts of which a piece stands in an event that begins something, as they stand."""
    for places in voices:
        if len(places) > 1 and any("delta" not in path for _, path in places):
            yield _Run(pieces=[str(_at(link.value, path)) for link, path in places], places=places)


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
    for piece, (link, path) in zip(run.pieces, run.places, strict=True):
        end = start + len(piece)
        edited = cut(piece, start, spans)
        if edited != piece:
            _put(link.value, path, edited)
            link.edited = True
        start = end + len(run.between)


def _at(value: Any, path: _Path) -> Json:
    for step in path:
        value = value[step]
    found: Json = value
    return found


def _put(value: Json, path: tuple[str | int, ...], text: str) -> None:
    target = value
    for step in path[:-1]:
        target = target[step]  # type: ignore[index]
    target[path[-1]] = text  # type: ignore[index]


def written(link: Link) -> bytes:
    """Return the bytes of a link whose value was edited."""
    try:
        return link.before + orjson.dumps(link.value) + link.after
    except orjson.JSONEncodeError:
        # Nested more deeply than can be written: no client misses it, and a secret may be in it.
        return link.before + b"null" + link.after

"""Server-sent events as a list of JSON values: the frame is told once, deltas are runs.

An item of ``events`` is an event's JSON by itself; a string, the text after ``data:``; or one
of ``{"$times": …}`` (a run), ``{"$with": …}`` (texts in it are named) and ``{"$raw": …}`` (as
it came, without its empty line).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.format.folding_references import WITH, References
from evalgate.gateway.format.folding_runs import TIMES, Run, flatten, unfold_run
from evalgate.gateway.format.folding_styles import PLAIN, STYLES, common_style, parse_shallow
from evalgate.gateway.reading import needed_list, needed_object

_RAW: Final = "$raw"
_MARKS: Final = frozenset({TIMES, WITH, _RAW})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """How a stream frames its events.

    ``named``: a line ``event:`` with the type of the JSON stands before the data; ``tight``: no
    space after a field's colon; ``crlf``: lines end so.
    """

    named: bool = False
    tight: bool = False
    crlf: bool = False

    @property
    def word(self) -> str:
        """The frame in words; empty for the usual one."""
        flags = {"named": self.named, "tight": self.tight, "crlf": self.crlf}
        return " ".join(name for name, set_ in flags.items() if set_)

    @property
    def line_end(self) -> bytes:
        """What ends a line."""
        return b"\r\n" if self.crlf else b"\n"

    @property
    def data(self) -> bytes:
        """What stands before the data."""
        return b"data:" if self.tight else b"data: "

    def framed(self, event: JsonObject, text: bytes) -> bytes:
        """Return the lines of an event, without the empty one."""
        if not self.named:
            return self.data + text
        kind = event.get("type")
        name = kind.encode() if isinstance(kind, str) else b""
        return (b"event:" if self.tight else b"event: ") + name + self.line_end + self.data + text


def _frame_of(body: bytes) -> _Frame:
    crlf = b"\r\n\r\n" in body
    named = body.startswith(b"event:")
    at = body.find(b"data:")
    return _Frame(named=named, tight=body[at + 5 : at + 6] != b" ", crlf=crlf)


def fold_stream(body: bytes) -> JsonObject | None:
    """Return a stream of UTF-8 as a value; None when no event in it holds a JSON object."""
    frame = _frame_of(body)
    *frames, rest = body.split(frame.line_end * 2)
    found = [_read(one, frame) for one in frames]
    objects = [one for one in found if one is not None]
    if not objects:
        return None
    style, fits = common_style([(text, event) for event, text, _ in objects])
    fitting = iter(fits)
    kept = [one if one is not None and next(fitting) else None for one in found]
    pads = [one[2] for one in kept if one is not None]
    folded: dict[str, Json] = {"events": _fold_events(frames, kept, frame)}
    if style != PLAIN:
        folded["style"] = style
    if frame.word:
        folded["frame"] = frame.word
    if any(pads):
        folded["pads"] = " ".join(map(str, pads))
    return {**folded, "rest": rest.decode()} if rest else folded


#: An event, its JSON text without padding, and the spaces that stood before its last brace.
_Read = tuple[dict[str, Any], bytes, int]


def _read(lines: bytes, frame: _Frame) -> _Read | None:
    _, found, text = lines.partition(frame.data)
    if not found or not text.endswith(b"}"):
        return None
    event = parse_shallow(text)
    if not isinstance(event, dict) or not _MARKS.isdisjoint(event):
        return None
    if frame.framed(event, text) != lines:
        return None
    # Some providers pad their events, so that their lengths tell nothing to who listens.
    bare = text[:-1].rstrip(b" ")
    return event, bare + b"}", len(text) - 1 - len(bare)


def _fold_events(
    frames: Sequence[bytes], events: Sequence[_Read | None], frame: _Frame
) -> list[Json]:
    folded: list[Json] = []
    references = References()
    run: Run | None = None
    for lines, read in zip(frames, events, strict=True):
        flat = None if read is None else flatten(read[0])
        if run is not None and (flat is None or not run.takes(flat)):
            folded += _closed(run, references)
            run = None
        if flat is None:
            folded.append(_other(lines, frame))
        elif run is None:
            run = Run([flat])
    return folded if run is None else folded + _closed(run, references)


def _closed(run: Run, references: References) -> list[Json]:
    if len(run.events) > 1 and (told := run.fold()) is not None:
        item, texts = told
        references.add(texts)
        return [item]
    return [references.shorten(event) for event in run.events]


def _other(lines: bytes, frame: _Frame) -> Json:
    if lines.startswith(frame.data):
        return lines.removeprefix(frame.data).decode()
    return {_RAW: lines.decode()}


def unfold_stream(folded: JsonObject) -> bytes:
    """Return the bytes of a stream; KeyError, TypeError or ValueError when it was damaged."""
    words = str(folded.get("frame", "")).split()
    frame = _Frame(named="named" in words, tight="tight" in words, crlf="crlf" in words)
    write = STYLES[str(folded.get("style", PLAIN))]
    padded = "pads" in folded
    pads = iter(str(folded.get("pads", "")).split())
    written: list[bytes] = []
    for event in _unfold_events(needed_list(folded["events"]), frame):
        if isinstance(event, bytes):
            written.append(event)
            continue
        text = write(event)
        if padded:
            text = text[:-1] + b" " * int(next(pads, 0)) + b"}"
        written.append(frame.framed(event, text))
    return (frame.line_end * 2).join([*written, str(folded.get("rest", "")).encode()])


def _unfold_events(items: Sequence[Json], frame: _Frame) -> Iterator[JsonObject | bytes]:
    references = References()
    for item in items:
        if isinstance(item, str):
            yield frame.data + item.encode()
        elif not isinstance(item, Mapping):
            raise TypeError("an event is missing")
        elif _RAW in item:
            yield str(item[_RAW]).encode()
        elif TIMES in item:
            yield from unfold_run(item)
            leaves = needed_object(item["leaves"]).values()
            references.add(
                [str(leaf["text"]) for leaf in map(needed_object, leaves) if "text" in leaf]
            )
        else:
            yield needed_object(references.restore(item[WITH])) if WITH in item else item

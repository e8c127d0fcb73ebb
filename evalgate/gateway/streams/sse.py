"""Server-sent events: read them, and edit the text that runs through them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalgate.core.json import Json
from evalgate.gateway.reading import parse
from evalgate.gateway.streams.blocks import Find
from evalgate.gateway.streams.joining import Link, Strand, edit_links

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")


def is_stream(body: bytes) -> bool:
    """Tell events by the field or comment they begin with, whatever the headers claim."""
    return _START.match(body) is not None


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


def edit_stream(body: bytes, find: Find, strand: Strand) -> bytes:
    """Edit the strings of events: ``find`` sees texts that are cut into deltas joined.

    A replacement goes into the piece where its span begins. Only events that change are
    written anew; all other bytes stay as they are.
    """
    return edit_links([_link(match.group()) for match in _LINE.finditer(body)], find, strand)


def _link(line: bytes) -> Link:
    if not line.startswith(b"data:"):
        return Link(raw=line)
    ending = line[len(line.rstrip(b"\r\n")) :]
    return Link(raw=line, value=parse(line[5:]), before=b"data: ", after=ending)

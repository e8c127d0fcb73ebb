"""Server-sent events: read them, and edit the text that runs through them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from evalgate.core.json import Json
from evalgate.gateway.reading import parse
from evalgate.gateway.streams.blocks import Find, cut
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
    links: list[Link] = []
    event: list[bytes] = []
    for match in _LINE.finditer(body):
        event.append(match.group())
        if not match.group().strip(b"\r\n"):
            links += _links(event, find)
            event = []
    return edit_links([*links, *_links(event, find)], find, strand)


def _links(event: list[bytes], find: Find) -> Iterator[Link]:
    """Yield the lines of an event; its data is one link, and comments side by side one text."""
    data = [line for line in event if line.startswith(b"data:")]
    if len(data) > 1:
        whole = parse(b"\n".join(line[5:].rstrip(b"\r\n") for line in data))
        before = b"".join(line for line in event[:-1] if not line.startswith(b"data:"))
        last = data[-1]
        ending = last[len(last.rstrip(b"\r\n")) :]
        if event[-1] is not last:
            ending += event[-1]
        yield Link(raw=b"".join(event), value=whole, before=before + b"data: ", after=ending)
        return
    for comments, lines in groupby(event, lambda line: line.startswith(b":")):
        if comments:
            yield Link(raw=_comments([*lines], find))
        else:
            yield from map(_link, lines)


def _comments(lines: list[bytes], find: Find) -> bytes:
    """Return comments, edited as the one text that their lines make."""
    endings = [line[len(line.rstrip(b"\r\n")) :] for line in lines]
    texts = [
        line.rstrip(b"\r\n")[1:].removeprefix(b" ").decode("utf-8", "surrogateescape")
        for line in lines
    ]
    spans = find("".join(texts)) if len(texts) > 1 else ()
    if not spans:
        return b"".join(lines)
    start, edited = 0, b""
    for text, ending in zip(texts, endings, strict=True):
        edited += b": " + cut(text, start, spans).encode("utf-8", "surrogateescape") + ending
        start += len(text)
    return edited


def _link(line: bytes) -> Link:
    if not line.startswith(b"data:"):
        return Link(raw=line)
    ending = line[len(line.rstrip(b"\r\n")) :]
    return Link(raw=line, value=parse(line[5:]), before=b"data: ", after=ending)

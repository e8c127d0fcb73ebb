"""Texts that are cut over neighbouring blocks of one message: joined, searched, edited.

A model reads blocks that stand side by side as one text, so a secret may begin in one of them
and end in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from evalgate.core.json import Json
from evalgate.core.redaction import Span

#: What is looked for in a text: where it stands, in order, and what takes its place.
Find: TypeAlias = Callable[[str], Sequence[Span]]

#: The member of a block that holds its text, in every dialect.
_TEXT: Final = "text"


def may_have_blocks(data: bytes) -> bool:
    """Tell whether JSON text may hold two blocks of text; a test that costs next to nothing."""
    return data.count(b'"text":') > 1 or b'"text" ' in data


def edit_blocks(value: Json, find: Find) -> int:
    """Edit blocks of text in place where ``find`` sees something in them joined.

    A replacement goes into the block where its span begins. Return how many were put in.
    """
    edited = 0
    for blocks in _neighbours(value):
        texts = [str(block[_TEXT]) for block in blocks]
        spans = find("".join(texts))
        start = 0
        for block, text in zip(blocks, texts, strict=True):
            block[_TEXT] = cut(text, start, spans)
            start += len(text)
        edited += len(spans)
    return edited


def cut(piece: str, start: int, spans: Sequence[Span]) -> str:
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


def _neighbours(value: Json) -> Iterator[list[dict[str, Json]]]:
    """Yield each row of two blocks or more that hold text, without anything else between."""
    waiting: list[Json] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
            row: list[dict[str, Json]] = []
            for item in (*_flat(one), None):
                if isinstance(item, dict) and isinstance(item.get(_TEXT), str):
                    row.append(item)
                    continue
                if len(row) > 1:
                    yield row
                row = []


def _flat(items: list[Json]) -> Iterator[Json]:
    """Yield items, and in place of a message that stands among others its blocks."""
    for item in items:
        content = item.get("content") if isinstance(item, dict) else None
        if isinstance(item, dict) and item.get("type") == "message" and isinstance(content, list):
            yield from content
        else:
            yield item

"""Recorded replies in another place: a path in them must lead where the agent works now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalgate.core.places import place_spans
from evalgate.core.redaction import Span
from evalgate.gateway.streams.editing import edit_pieces


def moved_body(body: bytes, old: Mapping[str, str], new: Mapping[str, str]) -> bytes:
    """Return a reply with the paths of this run; byte for byte the same when none has moved."""
    moved = {label: path for label, path in old.items() if new.get(label, path) != path}
    if not moved:
        return body
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body

    def find(joined: str) -> list[Span]:
        return place_spans(joined, moved, new)

    edited = edit_pieces(body, find)
    return _edited(text, find(text)).encode() if edited is None else edited


def labelled_body(body: bytes, labels: Mapping[str, str]) -> bytes:
    """Return a reply with each text of ``labels`` (text -> label) replaced, also where it is cut.

    Labels are texts that stand in JSON as they are.
    """
    if not labels:
        return body
    forms = re.compile("|".join(map(re.escape, labels)))

    def find(joined: str) -> list[Span]:
        return [
            Span(start=found.start(), end=found.end(), text=labels[found[0]])
            for found in forms.finditer(joined)
        ]

    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return _edited(text, find(text)).encode("utf-8", "surrogateescape")
    edited = edit_pieces(body, find)
    return _edited(text, find(text)).encode() if edited is None else edited


def _edited(text: str, spans: Sequence[Span]) -> str:
    written: list[str] = []
    position = 0
    for span in spans:
        written += [text[position : span.start], span.text]
        position = span.end
    return "".join([*written, text[position:]])

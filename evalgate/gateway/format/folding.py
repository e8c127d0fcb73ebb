"""Replies folded to what a person reads in a diff, and unfolded to the very bytes.

A reply becomes one of ``{"json": …}``, ``{"events": […]}``, ``{"text": …}``, ``{"base64": …}``.
The order of members counts: a folded value must be written as it is, not sorted.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.format.folding_stream import fold_stream, unfold_stream
from evalgate.gateway.format.folding_styles import PLAIN, STYLES, parse_shallow, style_of
from evalgate.gateway.reading import needed_object
from evalgate.gateway.streams.sse import is_stream

#: Two line ends of any kind. The group is atomic, or ``\r\n`` would be taken for two.
_EVENT_END: Final = re.compile(rb"(?>\r\n|\r|\n){2,}")


def fold(body: bytes) -> JsonObject:
    """Return a reply as a value from which `unfold` makes the same bytes, whatever they are."""
    for folded in _candidates(body):
        # A recording can not be made again: what is stored is proven to give it back.
        if unfold(folded) == body:
            return folded
    return {"base64": base64.b64encode(body).decode()}


def _candidates(body: bytes) -> Iterator[JsonObject]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return
    folded = fold_stream(body) if is_stream(body) else _fold_json(body)
    if folded is not None:
        yield folded
    yield {"text": text}


def unfold(value: Json) -> bytes:
    """Return the bytes that were folded.

    KeyError, TypeError, IndexError, AttributeError or ValueError when the value was damaged.
    """
    folded = needed_object(value)
    if "events" in folded:
        return unfold_stream(folded)
    if "json" in folded:
        return _unfold_json(folded)
    if "text" in folded:
        return _text(folded["text"]).encode()
    try:
        return base64.b64decode(_text(folded["base64"]), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def events_of(body: bytes) -> list[int]:
    """Return the byte lengths of a stream's events; they add up to the body.

    The empty lines after an event belong to it. A body that is no stream is one event.
    """
    if not is_stream(body):
        return [len(body)] if body else []
    ends = [match.end() for match in _EVENT_END.finditer(body)]
    if not ends or ends[-1] != len(body):
        ends.append(len(body))
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _fold_json(body: bytes) -> JsonObject | None:
    text = body.rstrip(b"\n")
    value = parse_shallow(text)
    style = style_of(text, value) if isinstance(value, Mapping | list) else None
    if style is None:
        return None
    folded: dict[str, Json] = {"json": value}
    if style != PLAIN:
        folded["style"] = style
    if len(text) != len(body):
        folded["newlines"] = len(body) - len(text)
    return folded


def _unfold_json(folded: JsonObject) -> bytes:
    newlines = folded.get("newlines", 0)
    if not isinstance(newlines, int):
        raise TypeError("a number of newlines is missing")
    return STYLES[_text(folded.get("style", PLAIN))](folded["json"]) + b"\n" * newlines


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("a string is missing")
    return value

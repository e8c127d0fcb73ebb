"""A model's reply as the messages API streams it, with that API's own spacing."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

_LETTERS: Final = string.ascii_letters + string.digits
_PADDED: Final = 16
_PING: Final = b'event: ping\ndata: {"type": "ping"}\n\n'


def new_id(rng: random.Random, prefix: str, length: int) -> str:
    """Return an id such as providers make."""
    return prefix + "".join(rng.choices(_LETTERS, k=length))


def stream(
    rng: random.Random, *, model: str, text: str, use: Mapping[str, Any] | None, size: int
) -> bytes:
    """Return a reply that says ``text`` and, unless None, uses a tool (id, name, input).

    ``size`` is that of the request in bytes, for the count of tokens.
    """
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1000 + size % 1000,
        "cache_read_input_tokens": size // 4,
        "output_tokens": 2,
        "service_tier": "standard",
    }
    message: dict[str, Any] = {
        "model": model,
        "id": new_id(rng, "msg_01", 22),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    events = [
        _event(rng, "message_start", {"message": message}),
        _event(rng, "content_block_start", {"index": 0, "content_block": _text("")}),
        _PING,
        *_pieces(rng, 0, "text", text),
        _event(rng, "content_block_stop", {"index": 0}),
    ]
    if use is not None:
        block = {"type": "tool_use", **use, "input": {}}
        events += [
            _event(rng, "content_block_start", {"index": 1, "content_block": block}),
            *_pieces(rng, 1, "partial_json", orjson.dumps(use["input"]).decode()),
            _event(rng, "content_block_stop", {"index": 1}),
        ]
    reason = {"stop_reason": "end_turn" if use is None else "tool_use", "stop_sequence": None}
    counted = {"output_tokens": len(text) // 4 + 90}
    events += [
        _event(rng, "message_delta", {"delta": reason, "usage": counted}),
        _event(rng, "message_stop", {}),
    ]
    return b"".join(events)


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _pieces(rng: random.Random, index: int, member: str, text: str) -> Iterator[bytes]:
    kind = "text_delta" if member == "text" else "input_json_delta"
    position = 0
    while position < len(text):
        length = rng.randrange(6, 40)
        delta = {"type": kind, member: text[position : position + length]}
        yield _event(rng, "content_block_delta", {"index": index, "delta": delta})
        position += length


def _event(rng: random.Random, kind: str, rest: Mapping[str, Any]) -> bytes:
    # The API fills its events with spaces before the last brace, so that their length tells
    # nothing of their text.
    data = orjson.dumps({"type": kind, **rest})[:-1] + b" " * rng.randrange(_PADDED) + b"}"
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"

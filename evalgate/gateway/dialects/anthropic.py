"""The messages API of https://docs.anthropic.com/en/api/messages ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.common import error_text, error_word, models_path, split
from evalgate.gateway.dialects.dialect import (
    NO_HEADERS,
    Asked,
    Dialect,
    Drop,
    Question,
    Reply,
    ToolResult,
)
from evalgate.gateway.streams.sse import is_stream, read_events

_MESSAGES: Final = "/v1/messages"
_COUNT: Final = "/v1/messages/count_tokens"
_PARTS: Final = frozenset({"system", "tools", "messages"})
_VERSION: Final = "anthropic-version"
_OVERLOADED: Final = 529
_ERRORS: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    410: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    _OVERLOADED: "overloaded_error",
}

_BLOCK = ("messages", "*", "content", "*")
_MARKED = (
    (),
    ("system", "*"),
    ("tools", "*"),
    _BLOCK,
    (*_BLOCK, "content", "*"),
    (*_BLOCK, "source", "content", "*"),
)


#: Tokens of an answer to a question of ours.
_ROOM = 1024


class Anthropic(Dialect):
    """Messages, streamed or not, the counting of their tokens, and the list of models."""

    name = "anthropic"
    drops = (
        Drop(path=("metadata",), reason="holds the ids of the user, the device and the session"),
        *(
            Drop(
                path=(*place, "cache_control"),
                reason="marks what the provider keeps in its cache, and moves from turn to turn",
            )
            for place in _MARKED
        ),
    )
    conversation = "messages"
    headers = frozenset({_VERSION})
    noted = frozenset({"anthropic-beta"})
    forwarded = ("anthropic-",)
    key_header = "x-api-key"
    asking = MappingProxyType({_VERSION: "2023-06-01"})

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:
        """Return the API's own path, wherever a base URL put it.

        Models are asked for by the path of OpenAI's API: only a header tells the two apart.
        """
        if method == "POST":
            return next((route for route in (_COUNT, _MESSAGES) if path.endswith(route)), None)
        return models_path(method, path) if _VERSION in headers else None

    def question(self, asked: Question) -> tuple[str, JsonObject] | None:
        """Return a message, with room for an answer where the parameters say nothing of it."""
        messages = [{"role": "user", "content": asked.prompt}]
        body = {"max_tokens": _ROOM, **asked.parameters, "messages": messages}
        return _MESSAGES, {**body, "system": asked.system, "model": asked.model}

    def is_turn(self, path: str) -> bool:
        """Tell a message from the counting of its tokens."""
        return path == _MESSAGES

    def part_of(self, member: str) -> str:
        """Return the part of a member, which has its name."""
        return member if member in _PARTS else "parameters"

    def read_request(self, body: bytes) -> Asked:
        """Read a request."""
        asked = reading.mapping(reading.parse(body))
        blocks = [
            block
            for message in reading.items(asked, "messages")
            for block in reading.items(message, "content")
            if reading.text(block, "type") == "tool_result"
        ]
        return Asked(
            model=reading.text(asked, "model") or None,
            parts=split(asked, self.part_of),
            results=tuple(map(_result, blocks)),
        )

    def read_reply(self, body: bytes) -> Reply:
        """Read a response."""
        if is_stream(body):
            return _read_stream(read_events(body))
        answer = reading.parse(body)
        error = reading.member(answer, "error")
        if error is not None:
            return Reply(error=error_text(error))
        return _read_message(answer, finished=isinstance(reading.member(answer, "content"), list))

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error."""
        kind = error_word(status, _ERRORS, asker="invalid_request_error", server="api_error")
        return orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})

    def error_event(self, message: str) -> bytes:
        """Return the event of an overloaded provider."""
        return b"event: error\ndata: " + self.error(_OVERLOADED, message) + b"\n\n"


def _result(block: Json) -> ToolResult:
    return ToolResult(
        call_id=reading.text(block, "tool_use_id"),
        output=reading.content_text(reading.member(block, "content")),
        ok=reading.member(block, "is_error") is not True,
    )


def _read_message(answer: Json, *, finished: bool) -> Reply:
    blocks = reading.items(answer, "content")
    texts = [reading.text(b, "text") for b in blocks if reading.text(b, "type") == "text"]
    uses = [block for block in blocks if reading.text(block, "type") == "tool_use"]
    thoughts = [
        reading.text(b, "thinking") for b in blocks if reading.text(b, "type") == "thinking"
    ]
    return Reply(
        text="".join(texts),
        reasoning="\n".join(filter(None, thoughts)),
        calls=tuple(map(_call, uses)),
        usage=_usage(reading.mapping(answer, "usage")),
        stop_reason=reading.text(answer, "stop_reason") or None,
        model=reading.text(answer, "model") or None,
        finished=finished,
    )


def _call(block: Json) -> ToolCall:
    return ToolCall(
        name=reading.text(block, "name"),
        call_id=reading.text(block, "id"),
        input=reading.member(block, "input"),
    )


def _usage(usage: JsonObject) -> Usage:
    """Read the counts; cached ones stand beside ``input_tokens``, and none named means none."""
    if reading.count(usage, "input_tokens") is None:
        return Usage(output_tokens=reading.count(usage, "output_tokens"))
    return Usage(
        input_tokens=reading.count(usage, "input_tokens"),
        output_tokens=reading.count(usage, "output_tokens"),
        cache_read_tokens=reading.count(usage, "cache_read_input_tokens") or 0,
        cache_write_tokens=reading.count(usage, "cache_creation_input_tokens") or 0,
    )


def _read_stream(events: list[Json]) -> Reply:
    message: dict[str, Json] = {}
    usage: dict[str, Json] = {}
    blocks: dict[int, dict[str, Json]] = {}
    finished, counted, error = False, False, None
    for event in events:
        kind = reading.text(event, "type")
        if kind == "message_start":
            message.update(reading.mapping(event, "message"))
            usage.update(reading.mapping(event, "message", "usage"))
        elif kind == "content_block_start":
            block = dict(reading.mapping(event, "content_block"))
            blocks[reading.count(event, "index") or 0] = block
        elif kind == "content_block_delta":
            block = blocks.setdefault(reading.count(event, "index") or 0, {"type": "text"})
            _grow(block, reading.mapping(event, "delta"))
        elif kind == "message_delta":
            message.update(reading.mapping(event, "delta"))
            totals = reading.mapping(event, "usage")
            usage.update({key: total for key, total in totals.items() if total is not None})
            counted = counted or "output_tokens" in totals
        elif kind == "message_stop":
            finished = True
        elif kind == "error":
            error = error_text(reading.member(event, "error"))
    if not counted:
        # The first event holds a provisional count of the output; only the last one is final.
        usage.pop("output_tokens", None)
    message["content"] = [_closed(block) for _, block in sorted(blocks.items())]
    message["usage"] = usage
    return replace(_read_message(message, finished=finished), error=error)


def _grow(block: dict[str, Json], delta: JsonObject) -> None:
    for key in ("text", "thinking", "partial_json"):
        piece = reading.text(delta, key)
        if piece:
            block[key] = reading.text(block, key) + piece


def _closed(block: dict[str, Json]) -> Json:
    written = reading.text(block, "partial_json")
    if written:
        parsed = reading.parse(written)
        block["input"] = written if parsed is None else parsed
    return block

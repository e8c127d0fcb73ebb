"""Replies of the messages API."""

from __future__ import annotations

from collections.abc import Iterator

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading
from evalgate.gateway.scripted.saying import Saying, arguments, count_answers, event, pieces


class AnthropicVoice:
    """Messages, whole or streamed."""

    def turns(self, asked: Json) -> int:
        """Count the assistant's messages; a last one is the start of the wanted reply."""
        return count_answers(asked, _ids)

    def has_tools(self, asked: Json) -> bool:
        """Tell whether the request offers any tool."""
        return bool(reading.items(asked, "tools"))

    def whole(self, saying: Saying) -> JsonObject:
        """Return a message."""
        return {
            **_message(saying),
            "content": _blocks(saying),
            "stop_reason": _stop(saying),
            "usage": {**_usage(saying), "output_tokens": saying.output_tokens},
        }

    def events(self, saying: Saying) -> Iterator[bytes]:
        """Yield the events of a message."""
        usage: Json = {**_usage(saying), "output_tokens": 1}
        yield _event("message_start", message={**_message(saying), "usage": usage})
        for index, block in enumerate(_blocks(saying)):
            kind = reading.text(block, "type")
            blank: JsonObject = {"text": ""} if kind == "text" else {"input": {}}
            start: Json = {**block, **blank}
            yield _event("content_block_start", index=index, content_block=start)
            if index == 0:
                yield _event("ping")
            for delta in _deltas(saying, index, kind):
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        stop: Json = {"stop_reason": _stop(saying), "stop_sequence": None}
        total: Json = {"output_tokens": saying.output_tokens}
        yield _event("message_delta", delta=stop, usage=total)
        yield _event("message_stop")


def _ids(message: Json) -> list[str]:
    return [reading.text(block, "id") for block in reading.items(message, "content")]


def _event(kind: str, **more: Json) -> bytes:
    return event({"type": kind, **more}, name=kind)


def _message(saying: Saying) -> dict[str, Json]:
    return {
        "id": f"msg_{saying.name}",
        "type": "message",
        "role": "assistant",
        "model": saying.served,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(saying: Saying) -> list[dict[str, Json]]:
    text = saying.said.text
    blocks: list[dict[str, Json]] = [{"type": "text", "text": text}] if text else []
    return blocks + [
        {"type": "tool_use", "id": call_id, "name": call.name, "input": dict(call.input)}
        for call_id, call in saying.calls
    ]


def _deltas(saying: Saying, index: int, kind: str) -> Iterator[Json]:
    if kind == "text":
        for piece in pieces(saying.said.text):
            yield {"type": "text_delta", "text": piece}
        return
    _, call = saying.calls[index - bool(saying.said.text)]
    for piece in ("", *pieces(arguments(call))):
        yield {"type": "input_json_delta", "partial_json": piece}


def _stop(saying: Saying) -> str:
    return "tool_use" if saying.said.calls else "end_turn"


def _usage(saying: Saying) -> dict[str, Json]:
    return {
        "input_tokens": saying.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }

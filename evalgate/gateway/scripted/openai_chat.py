"""Replies of the chat completions API."""

from __future__ import annotations

from collections.abc import Iterator

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading
from evalgate.gateway.scripted.plan import Call
from evalgate.gateway.scripted.saying import Saying, arguments, count_answers, event, pieces

_DONE = b"data: [DONE]\n\n"


class OpenAiChatVoice:
    """Chat completions, whole or streamed."""

    def turns(self, asked: Json) -> int:
        """Count the assistant's messages; a last one is the start of the wanted reply."""
        return count_answers(asked, _ids)

    def has_tools(self, asked: Json) -> bool:
        """Tell whether the request offers any tool."""
        return bool(reading.items(asked, "tools"))

    def whole(self, saying: Saying) -> JsonObject:
        """Return a completion."""
        message: dict[str, Json] = {
            "role": "assistant",
            "content": saying.said.text or None,
            "refusal": None,
        }
        if saying.said.calls:
            message["tool_calls"] = [_call(*named) for named in saying.calls]
        choice: Json = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _finish(saying),
        }
        head = _head(saying, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(saying)}

    def events(self, saying: Saying) -> Iterator[bytes]:
        """Yield the chunks of a completion; the usage comes to whom it was promised."""
        counted = reading.member(saying.asked, "stream_options", "include_usage") is True
        more: dict[str, Json] = {"usage": None} if counted else {}
        head = {**_head(saying, "chat.completion.chunk"), **more}
        for delta in _deltas(saying):
            yield event({**head, "choices": [_choice(delta, None)]})
        yield event({**head, "choices": [_choice({}, _finish(saying))]})
        if counted:
            yield event({**head, "choices": [], "usage": _usage(saying)})
        yield _DONE


def _ids(message: Json) -> list[str]:
    return [reading.text(call, "id") for call in reading.items(message, "tool_calls")]


def _head(saying: Saying, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{saying.name}",
        "object": kind,
        "created": 0,
        "model": saying.served,
        "system_fingerprint": None,
    }


def _call(call_id: str, call: Call) -> Json:
    function: Json = {"name": call.name, "arguments": arguments(call)}
    return {"id": call_id, "type": "function", "function": function}


def _choice(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(saying: Saying) -> Iterator[Json]:
    yield {"role": "assistant", "content": "", "refusal": None}
    for piece in pieces(saying.said.text):
        yield {"content": piece}
    for index, (call_id, call) in enumerate(saying.calls):
        blank: Json = {"name": call.name, "arguments": ""}
        start: Json = {"index": index, "id": call_id, "type": "function", "function": blank}
        yield {"tool_calls": [start]}
        for piece in pieces(arguments(call)):
            more: Json = {"index": index, "function": {"arguments": piece}}
            yield {"tool_calls": [more]}


def _finish(saying: Saying) -> str:
    return "tool_calls" if saying.said.calls else "stop"


def _usage(saying: Saying) -> Json:
    return {
        "prompt_tokens": saying.input_tokens,
        "completion_tokens": saying.output_tokens,
        "total_tokens": saying.input_tokens + saying.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }

"""Replies of the Gemini API."""

from __future__ import annotations

from collections.abc import Iterator

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading
from evalgate.gateway.scripted.saying import Saying, count_turns, event, pieces


class GeminiVoice:
    """Generated content, whole or streamed."""

    def turns(self, asked: Json) -> int:
        """Count the model's contents."""
        contents = reading.items(asked, "contents")
        return count_turns((_is_model(content), _ids(content)) for content in contents)

    def has_tools(self, asked: Json) -> bool:
        """Tell whether the request offers any tool."""
        return bool(reading.items(asked, "tools"))

    def whole(self, saying: Saying) -> JsonObject:
        """Return a response with one candidate."""
        text = saying.said.text
        parts: list[Json] = [{"text": text}] if text else []
        return _response(saying, parts + _calls(saying), finish="STOP")

    def values(self, saying: Saying) -> Iterator[JsonObject]:
        """Yield the responses that a stream is made of: text in pieces, each call whole."""
        parts: list[Json] = [{"text": piece} for piece in pieces(saying.said.text)]
        parts += _calls(saying)
        for part in parts[:-1]:
            yield _response(saying, [part], finish="")
        yield _response(saying, parts[-1:], finish="STOP")

    def events(self, saying: Saying) -> Iterator[bytes]:
        """Yield the events of a stream."""
        for value in self.values(saying):
            yield event(value)


def _is_model(content: Json) -> bool:
    return reading.text(content, "role") == "model"


def _ids(content: Json) -> list[str]:
    parts = reading.items(content, "parts")
    return [reading.text(part, "functionCall", "id") for part in parts]


def _calls(saying: Saying) -> list[Json]:
    return [
        {"functionCall": {"id": call_id, "name": call.name, "args": dict(call.input)}}
        for call_id, call in saying.calls
    ]


def _response(saying: Saying, parts: list[Json], *, finish: str) -> JsonObject:
    candidate: dict[str, Json] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage: dict[str, Json] = {
        "promptTokenCount": saying.input_tokens,
        "candidatesTokenCount": saying.output_tokens,
        "totalTokenCount": saying.input_tokens + saying.output_tokens,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": saying.served,
        "responseId": saying.name,
    }

"""Replies of the Responses API."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading
from evalgate.gateway.scripted.saying import Saying, arguments, count_turns, event, pieces

_OURS = re.compile(r"resp_scripted-(\d+)")

#: What a client gives back of the model's output; its messages say ``role`` besides.
_OUTPUT = ("reasoning", "function_call", "custom_tool_call", "local_shell_call")


class OpenAiResponsesVoice:
    """Responses, whole or streamed."""

    def turns(self, asked: Json) -> int:
        """Count the groups of output items; a ``previous_response_id`` stands for those before."""
        items = reading.items(asked, "input")
        before = _OURS.fullmatch(reading.text(asked, "previous_response_id"))
        counted = count_turns((_is_model(item), _ids(item)) for item in items)
        return max(counted, int(before[1]) + 1) if before else counted

    def has_tools(self, asked: Json) -> bool:
        """Tell whether the request offers any tool; some clients send theirs as an item."""
        kinds = {reading.text(item, "type") for item in reading.items(asked, "input")}
        return bool(reading.items(asked, "tools")) or "additional_tools" in kinds

    def whole(self, saying: Saying) -> JsonObject:
        """Return a response that is complete."""
        output: Json = [*_items(saying)]
        return {**_head(saying, "completed"), "output": output, "usage": _usage(saying)}

    def events(self, saying: Saying) -> Iterator[bytes]:
        """Yield the events of a response, numbered."""
        numbers = itertools.count()
        for kind, more in self._events(saying):
            numbered: Json = {"type": kind, **more, "sequence_number": next(numbers)}
            yield event(numbered, name=kind)

    def _events(self, saying: Saying) -> Iterator[tuple[str, dict[str, Json]]]:
        started: Json = _head(saying, "in_progress")
        yield "response.created", {"response": started}
        yield "response.in_progress", {"response": started}
        for index, item in enumerate(_items(saying)):
            yield from _item_events(saying, index, item)
        yield "response.completed", {"response": self.whole(saying)}


def _is_model(item: Json) -> bool:
    return reading.text(item, "type") in _OUTPUT or reading.text(item, "role") == "assistant"


def _ids(item: Json) -> list[str]:
    return [reading.text(item, "call_id")]


def _head(saying: Saying, status: str) -> dict[str, Json]:
    return {
        "id": f"resp_{saying.name}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": saying.served,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _items(saying: Saying) -> list[dict[str, Json]]:
    items: list[dict[str, Json]] = []
    if saying.said.text:
        message: dict[str, Json] = {"id": f"msg_{saying.name}", "type": "message"}
        content: Json = [_part(saying.said.text)]
        items.append({**message, "status": "completed", "role": "assistant", "content": content})
    for call_id, call in saying.calls:
        named: dict[str, Json] = {"call_id": call_id, "name": call.name}
        head: dict[str, Json] = {"id": f"fc_{call_id}", "type": "function_call"}
        items.append({**head, "status": "completed", **named, "arguments": arguments(call)})
    return items


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item_events(
    saying: Saying, index: int, item: dict[str, Json]
) -> Iterator[tuple[str, dict[str, Json]]]:
    at: dict[str, Json] = {"item_id": item["id"], "output_index": index}
    is_text = item["type"] == "message"
    blank: dict[str, Json] = {"content": []} if is_text else {"arguments": ""}
    begun: Json = {**item, "status": "in_progress", **blank}
    yield "response.output_item.added", {"output_index": index, "item": begun}
    if is_text:
        text, within = saying.said.text, {**at, "content_index": 0}
        yield "response.content_part.added", {**within, "part": _part("")}
        for piece in pieces(text):
            yield "response.output_text.delta", {**within, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**within, "text": text, "logprobs": []}
        yield "response.content_part.done", {**within, "part": _part(text)}
    else:
        written = reading.text(item, "arguments")
        for piece in pieces(written):
            yield "response.function_call_arguments.delta", {**at, "delta": piece}
        done: dict[str, Json] = {"name": item["name"], "arguments": written}
        yield "response.function_call_arguments.done", {**at, **done}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _usage(saying: Saying) -> Json:
    return {
        "input_tokens": saying.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": saying.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": saying.input_tokens + saying.output_tokens,
    }

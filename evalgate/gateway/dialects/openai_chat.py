"""The chat completions API of https://platform.openai.com/docs/api-reference/chat ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.common import (
    arguments,
    error_text,
    error_word,
    models_path,
    openai_usage,
    split,
)
from evalgate.gateway.dialects.dialect import (
    NO_HEADERS,
    Asked,
    Dialect,
    Drop,
    Question,
    Reply,
    ToolResult,
)
from evalgate.gateway.streams.sse import is_done, is_stream, read_events

_CHAT: Final = "/v1/chat/completions"
_ERRORS: Final = {
    401: "authentication_error",
    429: "rate_limit_error",
}


_CACHE_MARK = "marks what a provider keeps in its cache, and moves from turn to turn"


class OpenAiChat(Dialect):
    """Chat completions, streamed or not; the dialect most providers and local servers speak."""

    name = "openai-chat"
    drops = (
        Drop(path=("user",), reason="names the person, for the provider"),
        Drop(path=("safety_identifier",), reason="names the person, for the provider"),
        Drop(path=("prompt_cache_key",), reason="names a cache; clients make it up anew"),
        Drop(path=("metadata",), reason="labels what the provider keeps; the model never sees it"),
        # Of the messages API, and passed on by servers that stand between.
        Drop(path=("tools", "*", "cache_control"), reason=_CACHE_MARK),
        Drop(path=("messages", "*", "cache_control"), reason=_CACHE_MARK),
        Drop(path=("messages", "*", "content", "*", "cache_control"), reason=_CACHE_MARK),
    )
    conversation = "messages"
    noted = frozenset({"openai-beta"})
    forwarded = ("openai-beta",)

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:  # noqa: ARG002 - of the protocol
        """Return the API's own path: some clients put ``/v1`` into their base URL, some do not."""
        if method == "POST" and path.endswith("/chat/completions"):
            return _CHAT
        return models_path(method, path)

    def question(self, asked: Question) -> tuple[str, JsonObject] | None:
        """Return a completion of what the system and the user say."""
        said = [
            {"role": "system", "content": asked.system},
            {"role": "user", "content": asked.prompt},
        ]
        return _CHAT, {**asked.parameters, "messages": said, "model": asked.model}

    def is_turn(self, path: str) -> bool:
        """Tell that every completion is a turn."""
        return path == _CHAT

    def part_of(self, member: str) -> str:
        """Return the part of a member; system messages stand among the others."""
        return member if member in {"tools", "messages"} else "parameters"

    def read_request(self, body: bytes) -> Asked:
        """Read a request; the leading system messages are its ``system`` part."""
        asked = reading.mapping(reading.parse(body))
        messages = reading.items(asked, "messages")
        lead = 0
        while lead < len(messages) and self.part_of_item(messages[lead]) == "system":
            lead += 1
        parts = split(asked, self.part_of)
        parts |= {"system": messages[:lead], "messages": messages[lead:]}
        tools = [message for message in messages if reading.text(message, "role") == "tool"]
        return Asked(
            model=reading.text(asked, "model") or None,
            parts=parts,
            results=tuple(map(_result, tools)),
        )

    def read_reply(self, body: bytes) -> Reply:
        """Read a response; of several choices the first one counts."""
        if is_stream(body):
            return _read_stream(read_events(body), done=is_done(body))
        answer = reading.parse(body)
        error = reading.member(answer, "error")
        if error is not None:
            return Reply(error=error_text(error))
        choice = reading.member(answer, "choices", 0)
        message = reading.member(choice, "message")
        return Reply(
            text=_said(message),
            reasoning=_thought(message),
            calls=tuple(map(_call, reading.items(message, "tool_calls"))),
            usage=_usage(reading.mapping(answer, "usage")),
            stop_reason=reading.text(choice, "finish_reason") or None,
            model=reading.text(answer, "model") or None,
            finished=message is not None,
        )

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error."""
        kind = error_word(status, _ERRORS, asker="invalid_request_error", server="server_error")
        error = {"message": message, "type": kind, "param": None, "code": None}
        return orjson.dumps({"error": error})


def _result(message: Json) -> ToolResult:
    output = reading.content_text(reading.member(message, "content"))
    return ToolResult(call_id=reading.text(message, "tool_call_id"), output=output, ok=None)


def _said(message: Json) -> str:
    """Return the text of a message; a model that declines says so in a member of its own."""
    content = reading.content_text(reading.member(message, "content"))
    return content or reading.text(message, "refusal")


def _thought(message: Json) -> str:
    """Return the reasoning: a member that servers added, some by one name, some by both."""
    return reading.text(message, "reasoning_content") or reading.text(message, "reasoning")


def _call(call: Json) -> ToolCall:
    if reading.text(call, "type") == "custom":
        name, given = reading.text(call, "custom", "name"), reading.text(call, "custom", "input")
        return ToolCall(name=name, call_id=reading.text(call, "id"), input=given)
    return ToolCall(
        name=reading.text(call, "function", "name"),
        call_id=reading.text(call, "id"),
        input=arguments(reading.text(call, "function", "arguments")),
    )


def _usage(usage: JsonObject) -> Usage:
    return openai_usage(usage, asked="prompt_tokens", said="completion_tokens")


def _read_stream(events: list[Json], *, done: bool) -> Reply:
    text: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, str]] = []
    at: dict[int, dict[str, str]] = {}
    usage: JsonObject = {}
    stop, model, error = "", "", None
    for event in events:
        model = reading.text(event, "model") or model
        usage = reading.mapping(event, "usage") or usage
        if reading.member(event, "error") is not None:
            error = error_text(reading.member(event, "error"))
        for choice in reading.items(event, "choices"):
            if reading.count(choice, "index"):
                continue
            text.append(_said(reading.member(choice, "delta")))
            thoughts.append(_thought(reading.member(choice, "delta")))
            stop = reading.text(choice, "finish_reason") or stop
            for position, piece in enumerate(reading.items(choice, "delta", "tool_calls")):
                index = reading.count(piece, "index")
                place = position if index is None else index
                if place not in at or _is_another(at[place], piece):
                    at[place] = {}
                    calls.append(at[place])
                _grow(at[place], piece)
    return Reply(
        text="".join(text),
        reasoning="".join(thoughts),
        calls=tuple(_call(_closed(call)) for call in calls),
        usage=_usage(usage),
        stop_reason=stop or None,
        model=model or None,
        finished=bool(stop) or (done and error is None),
        error=error,
    )


def _is_another(call: dict[str, str], piece: Json) -> bool:
    """Tell parallel calls apart where a server gives all of them the index 0."""
    return bool(call["id"]) and reading.text(piece, "id") not in {"", call["id"]}


def _grow(call: dict[str, str], piece: Json) -> None:
    """Join the arguments, which come in pieces; the id and the name come whole, once or again."""
    call["id"] = reading.text(piece, "id") or call.get("id", "")
    call["type"] = reading.text(piece, "type") or call.get("type", "function")
    inner = reading.mapping(piece, "custom" if call["type"] == "custom" else "function")
    call["name"] = reading.text(inner, "name") or call.get("name", "")
    for member in ("arguments", "input"):
        call[member] = call.get(member, "") + reading.text(inner, member)


def _closed(call: dict[str, str]) -> Json:
    inner = {"name": call["name"], "arguments": call["arguments"], "input": call["input"]}
    return {"id": call["id"], "type": call["type"], "function": inner, "custom": inner}

"""The chat completions API of https://platform.openai.com/docs/api-reference/chat ."""

from __future__ import annotations

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.dialect import Asked, Reply, ToolResult
from evalgate.gateway.sse import is_done, is_stream, read_events

_CHAT = "/v1/chat/completions"
_SYSTEM_ROLES = frozenset({"system", "developer"})
_ERRORS = {
    401: "authentication_error",
    429: "rate_limit_error",
    500: "server_error",
    502: "server_error",
}


class OpenAiChat:
    """Chat completions, streamed or not; the dialect most providers and local servers speak."""

    name = "openai-chat"
    #: All three name the user or the cache, never the wanted answer.
    drops = ("user", "prompt_cache_key", "safety_identifier")

    def route(self, method: str, path: str) -> str | None:
        """Return the API's own path: some clients put ``/v1`` into their base URL, some do not."""
        return _CHAT if method == "POST" and path.endswith("/chat/completions") else None

    def is_turn(self, path: str) -> bool:
        """Tell that every completion is a turn."""
        return path == _CHAT

    def read_request(self, body: bytes) -> Asked:
        """Read a request; the leading system messages are its ``system`` part."""
        asked = reading.mapping(reading.parse(body))
        messages = reading.items(asked, "messages")
        lead = 0
        while lead < len(messages) and reading.text(messages[lead], "role") in _SYSTEM_ROLES:
            lead += 1
        rest: Json = {k: asked[k] for k in asked if k not in {"messages", "tools"}}
        parts: dict[str, Json] = {
            "system": messages[:lead],
            "messages": messages[lead:],
            "parameters": rest,
        }
        if "tools" in asked:
            parts["tools"] = asked["tools"]
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
            return Reply(error=_message(error))
        choice = reading.member(answer, "choices", 0)
        message = reading.member(choice, "message")
        return Reply(
            text=reading.content_text(reading.member(message, "content")),
            calls=tuple(map(_call, reading.items(message, "tool_calls"))),
            usage=_usage(reading.mapping(answer, "usage")),
            stop_reason=reading.text(choice, "finish_reason") or None,
            model=reading.text(answer, "model") or None,
            finished=message is not None,
        )

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error."""
        kind = _ERRORS.get(status, "invalid_request_error")
        error = {"message": message, "type": kind, "param": None, "code": None}
        return orjson.dumps({"error": error})


def _result(message: Json) -> ToolResult:
    output = reading.content_text(reading.member(message, "content"))
    return ToolResult(call_id=reading.text(message, "tool_call_id"), output=output, ok=None)


def _message(error: Json) -> str:
    return reading.text(error, "message") or reading.text(error) or "an error without a message"


def _call(call: Json) -> ToolCall:
    written = reading.text(call, "function", "arguments")
    parsed = reading.parse(written) if written else {}
    return ToolCall(
        name=reading.text(call, "function", "name"),
        call_id=reading.text(call, "id"),
        input=written if parsed is None else parsed,
    )


def _usage(usage: JsonObject) -> Usage:
    """Take cached tokens out of ``prompt_tokens``; none named means none cached."""
    prompt = reading.count(usage, "prompt_tokens")
    if prompt is None:
        return Usage()
    read = reading.count(usage, "prompt_tokens_details", "cached_tokens") or 0
    written = reading.count(usage, "prompt_tokens_details", "cache_write_tokens") or 0
    return Usage(
        input_tokens=max(0, prompt - read - written),
        output_tokens=reading.count(usage, "completion_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _read_stream(events: list[Json], *, done: bool) -> Reply:
    text: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    usage: JsonObject = {}
    stop, model, error = "", "", None
    for event in events:
        model = reading.text(event, "model") or model
        usage = reading.mapping(event, "usage") or usage
        if reading.member(event, "error") is not None:
            error = _message(reading.member(event, "error"))
        for choice in reading.items(event, "choices"):
            if reading.count(choice, "index"):
                continue
            text.append(reading.text(choice, "delta", "content"))
            stop = reading.text(choice, "finish_reason") or stop
            for position, piece in enumerate(reading.items(choice, "delta", "tool_calls")):
                index = reading.count(piece, "index")
                _grow(calls.setdefault(position if index is None else index, {}), piece)
    return Reply(
        text="".join(text),
        calls=tuple(_call(_closed(call)) for _, call in sorted(calls.items())),
        usage=_usage(usage),
        stop_reason=stop or None,
        model=model or None,
        finished=bool(stop) or (done and error is None),
        error=error,
    )


def _grow(call: dict[str, str], piece: Json) -> None:
    """Join the arguments, which come in pieces; the id and the name come whole, once or again."""
    call["id"] = reading.text(piece, "id") or call.get("id", "")
    call["name"] = reading.text(piece, "function", "name") or call.get("name", "")
    call["arguments"] = call.get("arguments", "") + reading.text(piece, "function", "arguments")


def _closed(call: dict[str, str]) -> Json:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "function": function}

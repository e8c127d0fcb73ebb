"""The API of https://ai.google.dev/api/generate-content , which names the model in its path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.arrays import is_array, read_array
from evalgate.gateway.dialects.common import error_text, error_word, split, written
from evalgate.gateway.dialects.dialect import NO_HEADERS, Asked, Dialect, Reply, ToolResult
from evalgate.gateway.dialects.tooling import tool_definition
from evalgate.gateway.streams.sse import is_stream, read_events

_PATH: Final = re.compile(
    r".*?(?P<path>/(?P<version>v\d+(?:alpha|beta)?)"
    r"/(?P<kind>models|tunedModels)(?:/(?P<model>[^/:]+)(?P<verb>:\w+)?)?)"
)
_TURNS: Final = (":generateContent", ":streamGenerateContent")
_VERBS: Final = frozenset({*_TURNS, ":countTokens"})
#: The stable version has the paths of another API; clients of this one send this header.
_KEY: Final = "x-goog-api-key"
_PARTS: Final = {
    "systemInstruction": "system",
    "system_instruction": "system",
    "tools": "tools",
    "contents": "messages",
}
_GROUPS: Final = ("functionDeclarations", "function_declarations")
_ERRORS: Final = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    410: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Gemini(Dialect):
    """Content, whole or as a stream of events or of one JSON array; tokens and models.

    Members of requests are known by both spellings of the API, ``likeThis`` and ``like_this``.
    """

    name = "gemini"
    conversation = "contents"
    key_header = _KEY
    version = "/v1beta"
    speakers = frozenset({"model"})
    texts = ("text", "parts")

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:
        """Return the API's own path with its version, wherever a base URL put it."""
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        if method == "POST":
            return found["path"] if found["verb"] in _VERBS else None
        wanted = method == "GET" and found["verb"] is None
        return found["path"] if wanted and (found["version"] != "v1" or _KEY in headers) else None

    def is_turn(self, path: str) -> bool:
        """Tell content from the counting of tokens and the list of models."""
        return path.endswith(_TURNS)

    def model_of(self, path: str, body: bytes) -> str | None:  # noqa: ARG002 - it is in the path
        """Return the model that the path names."""
        found = _PATH.fullmatch(path)
        return found["model"] if found else None

    def part_of(self, member: str) -> str:
        """Return the part of a member."""
        return _PARTS.get(member, "parameters")

    def read_request(self, body: bytes) -> Asked:
        """Read a request; its body names no model."""
        asked = reading.mapping(reading.parse(body))
        responses = [
            _either(part, "functionResponse", "function_response")
            for content in reading.items(asked, "contents")
            for part in reading.items(content, "parts")
        ]
        return Asked(
            parts=split(asked, self.part_of),
            results=tuple(_result(one) for one in responses if one is not None),
        )

    def read_reply(self, body: bytes) -> Reply:
        """Read a response; of several candidates the first one counts."""
        if is_stream(body):
            return _read(read_events(body))
        if is_array(body):
            return _read(read_array(body))
        answer = reading.parse(body)
        return _read([] if answer is None else [answer])

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error."""
        word = error_word(status, _ERRORS, asker="INVALID_ARGUMENT", server="INTERNAL")
        return orjson.dumps({"error": {"code": status, "message": message, "status": word}})

    def tools(self, offered: Json) -> tuple[JsonObject, ...]:
        """Return the offered tools: functions come in groups."""
        found: list[JsonObject] = []
        for tool in reading.mappings(offered):
            declared = [one for group in _GROUPS for one in reading.mappings(tool, group)]
            found += map(tool_definition, declared or [tool])
        return tuple(found)

    def strand(self, event: Json, path: Sequence[str | int]) -> tuple[str, ...] | None:
        """Return the candidate, thoughts apart: pieces have the form of a whole answer."""
        if path[0] != "candidates" or tuple(path[-3::2]) != ("parts", "text"):
            return None
        thought = reading.member(event, *path[:-1], "thought") is True
        index = reading.count(event, *path[:2], "index")
        return "candidates", str(path[1] if index is None else index), str(thought)


def _either(value: Json, *names: str) -> Json:
    return next((found for n in names if (found := reading.member(value, n)) is not None), None)


def _call_id(call: Json) -> str:
    """Return what a call and its response are matched by: the id, or else the name, in order.

    The model gives an id or none. Without one some clients make it up from the function's name,
    so such an id is in the response and never in the call.
    """
    name, given = reading.text(call, "name"), reading.text(call, "id")
    return name if name and given.startswith(name) else given or name


def _result(response: Json) -> ToolResult:
    """Read a response: ``output`` and ``error`` are the API's own words, others are of the tool."""
    given = reading.mapping(response, "response")
    failed = given.get("error") is not None and "output" not in given
    output = given["error"] if failed else given.get("output", given)
    return ToolResult(
        call_id=_call_id(response),
        output=output if isinstance(output, str) else written(output),
        ok=False if failed else ("output" in given or None),
    )


def _read(pieces: Iterable[Json]) -> Reply:
    """Join the pieces of an answer, each in the form of a whole one; the last counts hold."""
    text: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    usage: JsonObject = {}
    stop, model, error = "", "", None
    for piece in pieces:
        if reading.member(piece, "error") is not None:
            error = error_text(reading.member(piece, "error"))
        usage = reading.mapping(piece, "usageMetadata") or usage
        model = reading.text(piece, "modelVersion") or model
        # A prompt that is refused has no candidate.
        stop = reading.text(piece, "promptFeedback", "blockReason") or stop
        for candidate in reading.items(piece, "candidates"):
            if reading.count(candidate, "index"):
                continue
            stop = reading.text(candidate, "finishReason") or stop
            for part in reading.items(candidate, "content", "parts"):
                said = thoughts if reading.member(part, "thought") is True else text
                said.append(reading.text(part, "text"))
                call = reading.member(part, "functionCall")
                if call is not None:
                    calls.append(_call(call))
    finished = bool(stop) and error is None
    return Reply(
        text="".join(text),
        reasoning="".join(thoughts),
        calls=tuple(calls),
        usage=_usage(usage, finished=finished),
        stop_reason=stop or None,
        model=model or None,
        finished=finished,
        error=error,
    )


def _call(call: Json) -> ToolCall:
    name, given = reading.text(call, "name"), reading.mapping(call, "args")
    return ToolCall(name=name, call_id=_call_id(call), input=given)


def _usage(usage: JsonObject, *, finished: bool) -> Usage:
    """Read the counts: cached ones are part of the prompt's, thoughts stand beside the answer's.

    What was fed back from tools the provider ran stands beside the prompt. A count of zero is
    left out by this API, so the total decides whether a missing count is one. The counts of the
    output grow with the stream: those of one that broke off are not its own.
    """
    prompt = reading.count(usage, "promptTokenCount")
    if prompt is None:
        return Usage()
    fed = reading.count(usage, "toolUsePromptTokenCount") or 0
    read = reading.count(usage, "cachedContentTokenCount") or 0
    said = reading.count(usage, "candidatesTokenCount")
    total = reading.count(usage, "totalTokenCount")
    if said is not None:
        said += reading.count(usage, "thoughtsTokenCount") or 0
    elif total is not None:
        said = max(0, total - prompt - fed)
    return Usage(
        input_tokens=max(0, prompt - read) + fed,
        output_tokens=said if finished else None,
        cache_read_tokens=read,
        cache_write_tokens=0,
    )

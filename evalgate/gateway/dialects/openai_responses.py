"""The responses API of https://platform.openai.com/docs/api-reference/responses ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.common import (
    arguments,
    error_text,
    error_word,
    openai_usage,
    split,
)
from evalgate.gateway.dialects.dialect import NO_HEADERS, Asked, Dialect, Drop, Reply, ToolResult
from evalgate.gateway.dialects.responses_stream import join_events
from evalgate.gateway.streams.sse import is_stream, read_events

_RESPONSES: Final = "/v1/responses"
_COMPACT: Final = "/v1/responses/compact"
_COUNT: Final = "/v1/responses/input_tokens"
_PARTS: Final = {"instructions": "system", "tools": "tools", "input": "messages"}
_ERRORS: Final = {
    401: "authentication_error",
    429: "rate_limit_error",
}


class OpenAiResponses(Dialect):
    """Responses, streamed or not, their compaction, and the counting of their tokens.

    What is asked of a stored response by its id is not of this dialect.
    """

    name = "openai-responses"
    drops = (
        Drop(path=("user",), reason="names the person, for the provider"),
        Drop(path=("safety_identifier",), reason="names the person, for the provider"),
        Drop(path=("prompt_cache_key",), reason="names a cache; clients make it up anew"),
        Drop(path=("client_metadata",), reason="holds ids of sessions and windows, in any order"),
        Drop(path=("metadata",), reason="labels what the provider keeps; the model never sees it"),
        Drop(path=("input", "*", "id"), reason="clients make it up; calls are named by call_id"),
        Drop(
            path=("input", "*", "internal_chat_message_metadata_passthrough"),
            reason="Codex notes when, and in which turn, it wrote an item",
        ),
        Drop(path=("input", "*", "status"), reason="repeats that an item came whole"),
    )
    conversation = "input"
    noted = frozenset({"openai-beta"})
    forwarded = ("openai-beta",)
    more_tools = "additional_tools"

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:  # noqa: ARG002 - of the protocol
        """Return the API's own path: some clients put ``/v1`` into their base URL, some do not."""
        known = (_RESPONSES, _COMPACT, _COUNT) if method == "POST" else ()
        return next((one for one in known if path.endswith(one.removeprefix("/v1"))), None)

    def is_turn(self, path: str) -> bool:
        """Tell that the model answers, or shortens a conversation; both are paid for."""
        return path in {_RESPONSES, _COMPACT}

    def part_of(self, member: str) -> str:
        """Return the part of a member; system messages may also stand in ``input``."""
        return _PARTS.get(member, "parameters")

    def read_request(self, body: bytes) -> Asked:
        """Read a request.

        The system part is ``instructions`` with the system messages that lead ``input``; tools
        may stand in a leading item as well. Input that is a string is the message of a user.
        """
        asked = reading.mapping(reading.parse(body))
        given = asked.get("input")
        message: Json = {"role": "user", "content": given}
        items = [message] if isinstance(given, str) else reading.items(given)
        lead = 0
        while lead < len(items) and self._leads(items[lead]):
            lead += 1
        instructions = asked.get("instructions")
        system: list[Json] = [] if instructions is None else [instructions]
        tools = reading.items(asked, "tools")
        for item in items[:lead]:
            if self.part_of_item(item) == "tools":
                tools = [*tools, *reading.items(item, "tools")]
            else:
                system.append(item)
        parts = split(asked, self.part_of)
        parts |= {"system": system, "messages": items[lead:]}
        if tools:
            parts["tools"] = tools
        return Asked(
            model=reading.text(asked, "model") or None,
            parts=parts,
            results=tuple(_results(items)),
        )

    def read_reply(self, body: bytes) -> Reply:
        """Read a response; a failed one is an error."""
        if is_stream(body):
            answer, ended = join_events(read_events(body))
        else:
            answer = reading.mapping(reading.parse(body))
            ended = isinstance(answer.get("output"), list)
        return _read(answer, ended=ended)

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error."""
        kind = error_word(status, _ERRORS, asker="invalid_request_error", server="server_error")
        error = {"message": message, "type": kind, "param": None, "code": None}
        return orjson.dumps({"error": error})

    def error_event(self, message: str) -> bytes:
        """Return the event of an error: it has not the shape of one in place of a stream."""
        said = {"type": "error", "code": "server_error", "message": message, "param": None}
        data = orjson.dumps({**said, "sequence_number": 1})
        return b"event: error\ndata: " + data + b"\n\n"

    def _leads(self, item: Json) -> bool:
        part = self.part_of_item(item)
        message = reading.text(item, "type") in {"", "message"}
        return part == "tools" or (part == "system" and message)


def _results(items: Iterable[Json]) -> Iterable[ToolResult]:
    """Yield the outputs; one without the id of its call is of the first of its kind left open."""
    opened: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        kind = reading.text(item, "type")
        call_id = reading.text(item, "call_id")
        if kind.endswith("_call"):
            opened[kind].append(call_id)
        elif kind.endswith("_call_output"):
            waiting = opened[kind.removesuffix("_output")]
            if not call_id and waiting:
                call_id = waiting[0]
            if call_id in waiting:
                waiting.remove(call_id)
            output = _output_text(reading.member(item, "output"))
            yield ToolResult(call_id=call_id, output=output, ok=_ok(item))


def _output_text(output: Json) -> str:
    """Return the text of an output: a string, content, or what a shell wrote, piece by piece."""
    if not isinstance(output, list):
        return reading.content_text(output)
    return "\n".join(
        reading.text(piece, "stdout") + reading.text(piece, "stderr")
        if "stdout" in reading.mapping(piece)
        else reading.content_text([piece])
        for piece in output
    )


def _ok(item: Json) -> bool | None:
    """Tell success where the API has a word for it: a patch, or the exit codes of a shell."""
    if reading.text(item, "type") == "apply_patch_call_output":
        return {"completed": True, "failed": False}.get(reading.text(item, "status"))
    codes = [reading.count(one, "outcome", "exit_code") for one in reading.items(item, "output")]
    known = [code for code in codes if code is not None]
    return all(code == 0 for code in known) if known else None


def _read(answer: JsonObject, *, ended: bool) -> Reply:
    items = reading.items(answer, "output")
    said = [_said(item) for item in items if reading.text(item, "type") == "message"]
    thoughts = [_thought(item) for item in items if reading.text(item, "type") == "reasoning"]
    error = answer.get("error")
    status = reading.text(answer, "status")
    reason = reading.text(answer, "incomplete_details", "reason")
    finished = ended and error is None and status in {"", "completed", "incomplete"}
    return Reply(
        text="\n".join(filter(None, said)),
        reasoning="\n".join(filter(None, thoughts)),
        calls=tuple(_call(item) for item in items if _is_asked_of_the_client(item)),
        usage=_usage(reading.mapping(answer, "usage")),
        stop_reason=(reason or status or None) if finished else None,
        model=reading.text(answer, "model") or None,
        finished=finished,
        error=None if error is None else error_text(error),
    )


def _said(item: Json) -> str:
    """Return the text of a message; a model that declines says so in a part of its own kind."""
    parts = reading.items(item, "content")
    return "".join(reading.text(part, "text") or reading.text(part, "refusal") for part in parts)


def _thought(item: Json) -> str:
    """Return the summary of thoughts; open models give these themselves instead."""
    parts = reading.items(item, "summary") or reading.items(item, "content")
    return "\n".join(filter(None, (reading.text(part, "text") for part in parts)))


def _is_asked_of_the_client(item: Json) -> bool:
    """Tell a call that waits for an output: those the provider makes itself have no call id."""
    return reading.text(item, "type").endswith("_call") and bool(reading.text(item, "call_id"))


def _call(item: Json) -> ToolCall:
    kind = reading.text(item, "type")
    if kind == "function_call":
        given = arguments(reading.text(item, "arguments"))
    else:
        names = ("input", "action", "actions", "operation", "arguments")
        given = next((item[n] for n in names if isinstance(item, Mapping) and n in item), None)
    name = reading.text(item, "name") or kind.removesuffix("_call")
    return ToolCall(name=name, call_id=reading.text(item, "call_id"), input=given)


def _usage(usage: JsonObject) -> Usage:
    return openai_usage(usage, asked="input_tokens", said="output_tokens")

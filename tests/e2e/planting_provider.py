"""A provider that says a secret in every kind of reply it can give."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.serving import serving

MADE = runpy.run_path(str(Path(__file__).with_name("planting_places.py")))
secret_of = MADE["secret_of"]

#: The provider's own key, which it repeats in errors.
KEY = "key-of-the-provider-0123456789"


def reply_to(name: str, path: str) -> tuple[int, dict[str, str], list[bytes]]:
    """Return status, headers and pieces of the reply that holds a secret, or an empty one."""
    secret = secret_of(name)
    made = _STREAMS.get(name) or _REPLIES.get(name)
    if made is None:
        return (
            200,
            {"content-type": "application/json"},
            [json.dumps(plain_reply("ok", path)).encode()],
        )
    status, headers, body = made(secret)
    pieces = [body] if isinstance(body, bytes) else body
    return status, {"content-type": "application/json", **headers}, pieces


def plain_reply(text: str, path: str) -> dict[str, Any]:
    if "/messages" in path:
        content = [{"type": "text", "text": text}]
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {"type": "message", "role": "assistant", "content": content, "usage": usage}
    if "/responses" in path:
        return {"object": "response", "status": "completed", "output": [message_item(text)]}
    if "generateContent" in path.lower() or "GenerateContent" in path:
        return {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}
    return chat_reply({"role": "assistant", "content": text})


def chat_reply(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"model": "scripted-1", "choices": [choice], **more}


def message_item(text: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def call(text: str) -> dict[str, Any]:
    function = {"name": "sh", "arguments": json.dumps({"command": f"echo {text}"})}
    return {"id": "call_1", "type": "function", "function": function}


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def blocks(text: str, kind: str = "text") -> list[dict[str, str]]:
    return [{"type": kind, "text": half} for half in halves(text)]


def parts(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}]}


def ok(value: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {k.replace("_", "-"): v for k, v in headers.items()}, json.dumps(value).encode()


_REPLIES = {
    "reply-text": lambda s: ok(chat_reply({"content": f"Your password is {s}."})),
    "reply-tool-arguments": lambda s: ok(chat_reply({"content": None, "tool_calls": [call(s)]})),
    "reply-anthropic-input": lambda s: ok(
        {
            "type": "message",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"k": s}}],
        }
    ),
    "reply-responses-output": lambda s: ok(
        {"object": "response", "status": "completed", "output": [message_item(s)]}
    ),
    "reply-gemini-call": lambda s: ok(
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "f", "args": {"k": s}}}]}}
            ]
        }
    ),
    "reply-served-model": lambda s: ok({**chat_reply({"content": "x"}), "model": f"model-{s}"}),
    "reply-header-request-id": lambda s: ok(chat_reply({"content": "x"}), x_request_id=s),
    "reply-header-cookie": lambda s: ok(chat_reply({"content": "x"}), set_cookie=f"session={s}"),
    "reply-header-location": lambda s: (302, {"location": f"http://127.0.0.1:1/?t={s}"}, b"{}"),
    "reply-base64": lambda s: ok(chat_reply({"content": MADE["encoded"](s)})),
    "reply-error-400": lambda s: (
        400,
        {},
        json.dumps({"error": {"message": f"bad: {s}"}}).encode(),
    ),
    "reply-error-401": lambda s: (
        401,
        {},
        json.dumps({"type": "error", "error": {"message": f"no such key: {s}, {KEY}"}}).encode(),
    ),
    "reply-error-500": lambda s: (
        500,
        {"content-type": "text/plain", "x-should-retry": "false"},
        f"Traceback: {s}\n".encode(),
    ),
    "reply-of-text": lambda s: (200, {"content-type": "text/plain"}, f"{s}\n{KEY}\n".encode()),
    "reply-of-bytes": lambda s: (
        200,
        {"content-type": "application/octet-stream"},
        b"\xff\xfe" + s.encode() + b"\0\x80",
    ),
    "reply-indented": lambda s: (
        200,
        {},
        json.dumps(chat_reply({"content": s}), indent=2).encode(),
    ),
    "reply-cut-blocks": lambda s: ok({"type": "message", "content": blocks(s)}),
    "pattern-reply-cut-blocks": lambda s: ok({"type": "message", "content": blocks(s)}),
    "reply-cut-parts": lambda s: ok({"candidates": [{"content": {"parts": blocks(s)}}]}),
    "reply-cut-output": lambda s: ok(
        {"object": "response", "output": [{"type": "message", "content": blocks(s, "output_text")}]}
    ),
    "reply-cut-messages": lambda s: ok(
        {"object": "response", "output": [*map(message_item, halves(s))]}
    ),
    "array-cut-parts": lambda s: ok([*map(parts, halves(s))]),
    "array-broken-off": lambda s: (200, {}, json.dumps([*map(parts, halves(s))])[:-1].encode()),
    "final-answer": lambda s: ok(chat_reply({"content": f"Done. The password was {s}"})),
}


def chunk(**delta: Any) -> dict[str, Any]:
    return {"model": "scripted-1", "choices": [{"index": 0, "delta": delta}]}


def arguments(text: str, index: int = 0) -> dict[str, Any]:
    return chunk(tool_calls=[{"index": index, "function": {"arguments": text}}])


def block(kind: str, index: int = 0, **more: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def begun(text: str) -> dict[str, Any]:
    """Return the event that begins a block, with text in it."""
    return {"type": "content_block_start", "index": 0, "content_block": {"text": text}}


def in_lines(text: str) -> str:
    """Return an event whose JSON stands in several lines of data."""
    written = json.dumps(block("text_delta", text=text), indent=0)
    return "\n".join(f"data: {line}" for line in written.splitlines())


def stream(*events: Any, named: bool = False) -> tuple[int, dict[str, str], list[bytes]]:
    """Return a stream with each event in a piece of its own."""
    lines = [f"event: {event['type']}\n" if named else "" for event in events]
    data = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    whole = [f"{line}{text}\n\n".encode() for line, text in zip(lines, data, strict=True)]
    return 200, {"content-type": "text/event-stream"}, whole


def in_json(text: str) -> str:
    return json.dumps({"k": text})


_STREAMS = {
    "stream-chat-text": lambda s: stream(*[chunk(content=p) for p in ("It is ", *halves(s), ".")]),
    "stream-chat-arguments": lambda s: stream(*map(arguments, halves(in_json(s)))),
    "stream-anthropic-text": lambda s: stream(
        *[block("text_delta", text=piece) for piece in halves(s)], named=True
    ),
    "stream-anthropic-input": lambda s: stream(
        *[block("input_json_delta", partial_json=piece) for piece in halves(in_json(s))], named=True
    ),
    "stream-anthropic-thinking": lambda s: stream(
        *[block("thinking_delta", thinking=piece) for piece in halves(s)], named=True
    ),
    "stream-responses-text": lambda s: stream(
        *[{"type": "response.output_text.delta", "item_id": "m", "delta": p} for p in halves(s)],
        {"type": "response.output_text.done", "item_id": "m", "text": s},
        {"type": "response.completed", "response": {"output": [message_item(s)]}},
        named=True,
    ),
    "stream-responses-arguments": lambda s: stream(
        *[
            {"type": "response.function_call_arguments.delta", "item_id": "f", "delta": piece}
            for piece in halves(in_json(s))
        ],
        named=True,
    ),
    "pattern-in-stream": lambda s: stream(*[chunk(content=piece) for piece in halves(s)]),
    "stream-cut-blocks": lambda s: stream(
        *[block("text_delta", at, text=piece) for at, piece in enumerate(halves(s))], named=True
    ),
    "stream-begun-block": lambda s: stream(
        begun(halves(s)[0]), block("text_delta", text=halves(s)[1]), named=True
    ),
    "stream-begun-part": lambda s: stream(
        *[{"type": "response.content_part.added", "part": {"text": p}} for p in halves(s)],
        named=True,
    ),
    "stream-data-lines": lambda s: stream(*map(in_lines, halves(s))),
    "stream-gemini": lambda s: stream(*map(parts, halves(s))),
    "stream-by-character": lambda s: stream(*[chunk(content=one) for one in s], "data: [DONE]"),
    "stream-parallel-calls": lambda s: stream(
        *[
            event
            for piece, other in zip(halves(in_json(s)), ("{}", ""), strict=True)
            for event in (arguments(piece, 0), arguments(other, 1))
        ]
    ),
    "stream-error-event": lambda s: stream(
        block("text_delta", text="a"), {"type": "error", "error": {"message": s}}, named=True
    ),
    "stream-comment": lambda s: stream(f": {s}", chunk(content="a")),
    "stream-cut": lambda s: stream(*[chunk(content=piece) for piece in halves(s)], "CUT"),
}


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: some clients leave before the end."""


@contextmanager
def open_provider() -> Iterator[str]:
    """Serve the replies; the user agent names the place."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            while self.headers["transfer-encoding"] and (size := self.rfile.readline().strip()):
                self.rfile.read(int(size, 16) + 2)
                if size == b"0":
                    break
            self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path.startswith("/lost"):
                self.close_connection = True
                return
            self.do_GET()

        def do_GET(self) -> None:
            name = self.headers["user-agent"].removeprefix("place/")
            status, headers, pieces = reply_to(name, self.path)
            self.send_response(status)
            for header, value in headers.items():
                self.send_header(header, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                if piece == b"CUT\n\n":
                    self.close_connection = True
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"

"""A scripted model provider and plain clients: everything over real loopback HTTP."""

from __future__ import annotations

import http.client
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from evalgate.core.redaction import Redactor
from evalgate.gateway.server import Gateway, Mode, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream

KEY = "sk-ant-scripted-0123456789abcdef"


@dataclass
class Said:
    """One scripted answer; pieces after the first wait for ``gate``; ``cut`` drops the end."""

    pieces: list[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None
    cut: bool = False


@dataclass
class Heard:
    """One request the scripted provider got."""

    path: str
    headers: dict[str, str]
    body: bytes


class Scripted:
    """A provider that says what it was told to, then repeats the last answer."""

    def __init__(self) -> None:
        self.plan: deque[Said] = deque()
        self.heard: list[Heard] = []
        self._lock = threading.Lock()
        self._last = Said([b"{}"])
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def say(self, *pieces: bytes, **more: Any) -> None:
        """Plan one answer."""
        self.plan.append(Said(list(pieces), **more))

    def next(self, heard: Heard) -> Said:
        """Take the next answer."""
        with self._lock:
            self.heard.append(heard)
            if self.plan:
                self._last = self.plan.popleft()
            return self._last

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            said = scripted.next(Heard(self.path, headers, body))
            self.send_response(said.status)
            self.send_header("content-type", said.content_type)
            self.send_header("transfer-encoding", "chunked")
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self._send(said)
            except OSError:
                self.close_connection = True

        def _send(self, said: Said) -> None:
            for number, piece in enumerate(said.pieces):
                if number and said.gate is not None:
                    said.gate.wait(10)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if said.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@dataclass
class Answer:
    """What a client got; ``whole`` is False when the connection ended too early."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool = True

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Post = Callable[..., Answer]


def _post(
    base: str,
    body: object,
    path: str = "/v1/messages",
    *,
    headers: Mapping[str, str] | None = None,
    method: str = "POST",
) -> Answer:
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=20)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"content-type": "application/json", "x-api-key": "dummy", **(headers or {})}
    try:
        connection.request(method, url.path + path, data, sent)
        response = connection.getresponse()
        got = {name.lower(): value for name, value in response.getheaders()}
        try:
            return Answer(response.status, got, response.read())
        except http.client.IncompleteRead as error:
            return Answer(response.status, got, error.partial, whole=False)
    finally:
        connection.close()


@pytest.fixture
def post() -> Post:
    """Return a client: post(base, body, path, headers=, method=)."""
    return _post


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """Return a provider that answers by script."""
    provider = Scripted()
    yield provider
    provider.close()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """Return an open gateway that knows no secret but the keys of its routes."""
    with open_gateway(redactor=Redactor({})) as opened:
        yield opened


@pytest.fixture
def live(scripted: Scripted) -> Callable[..., RouteSpec]:
    """Return a maker of live routes to the scripted provider, for the models m and n."""

    def spec(**more: Any) -> RouteSpec:
        upstream = Upstream(url=scripted.url, key=KEY, key_header=more.pop("key_header", "x-api-key"))
        return RouteSpec(mode=Mode.LIVE, upstreams={"m": upstream, "n": upstream}, **more)

    return spec


@pytest.fixture
def key() -> str:
    """Return the key that only the gateway holds."""
    return KEY


def _message(text: str = "done", *calls: dict[str, Any], **more: Any) -> bytes:
    content = [{"type": "text", "text": text}] if text else []
    uses = [{"type": "tool_use", **call} for call in calls]
    usage = {"input_tokens": 10, "output_tokens": 5}
    body = {"type": "message", "model": "m-1", "content": content + uses, "usage": usage}
    return json.dumps({**body, "stop_reason": "end_turn", **more}).encode()


@pytest.fixture
def message() -> Callable[..., bytes]:
    """Return a maker of messages-API replies: message(text, call, ...)."""
    return _message


def _chat(text: str | None = "done", *calls: dict[str, Any], **more: Any) -> bytes:
    said = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    return json.dumps({"model": "m-1", "choices": [choice], "usage": usage, **more}).encode()


@pytest.fixture
def chat() -> Callable[..., bytes]:
    """Return a maker of chat-completions replies."""
    return _chat


@pytest.fixture
def asked() -> Callable[..., dict[str, Any]]:
    """Return a maker of requests: asked(text, **members)."""

    def make(text: str = "hello", **more: Any) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": text}], **more}

    return make

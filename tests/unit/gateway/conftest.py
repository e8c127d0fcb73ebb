"""A scripted model provider and plain clients: everything over real loopback HTTP."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from evalgate.core.redaction import Redactor
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.server import Gateway, Mode, Route, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream
from tests.serving import serving


@pytest.fixture(scope="session")
def sealed() -> Callable[[Mapping[str, Any]], bytes]:
    """Return what makes a file of any content, closed by a digest that fits."""

    def seal(rest: Mapping[str, Any]) -> bytes:
        digest = hashlib.sha256(orjson.dumps(rest)).hexdigest()
        whole = {**rest, "sha256": digest}
        indented = orjson.dumps(whole, option=orjson.OPT_INDENT_2)
        return re.sub(rb"(?m)^( +)\1", rb"\1", indented) + b"\n"

    return seal


PATH = "/v1/messages"
KEY = "sk-ant-scripted-0123456789abcdef"


@dataclass
class Said:
    """One scripted answer; pieces after the first wait for ``gate``; ``cut`` drops the end.

    The pieces may be without an end: they stop when nobody takes them any more.

    With ``before`` also the head of the answer waits for the gate.
    """

    pieces: Iterable[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None
    cut: bool = False
    before: bool = False


@dataclass
class Heard:
    """One request the scripted provider got."""

    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"


class Server(ThreadingHTTPServer):
    """Takes many connections at once, and keeps quiet when a client resets one."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class Scripted:
    """A provider that says what it was told to, then repeats the last answer."""

    def __init__(self) -> None:
        self.plan: deque[Said] = deque()
        self.heard: list[Heard] = []
        self._lock = threading.Lock()
        self._last = Said([b"{}"])
        self._server = Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._stack = ExitStack()
        self._stack.enter_context(serving(self._server))

    def say(self, *pieces: bytes, **more: Any) -> None:
        """Plan one answer."""
        self.plan.append(Said(list(pieces), **more))

    def say_for_ever(self, piece: bytes, **more: Any) -> None:
        """Plan an answer that repeats itself."""
        self.plan.append(Said(itertools.repeat(piece), **more))

    def next(self, heard: Heard) -> Said:
        """Take the next answer."""
        with self._lock:
            self.heard.append(heard)
            if self.plan:
                self._last = self.plan.popleft()
            return self._last

    def close(self) -> None:
        """End the server."""
        self._stack.close()


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            """Answer by script."""
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            said = scripted.next(Heard(self.path, headers, body, self.command))
            if said.before and said.gate is not None:
                said.gate.wait(10)
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

        do_GET = do_DELETE = do_POST  # noqa: N815 - the names the server looks for

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
        """The parsed body."""
        return json.loads(self.body)


def _post(
    base: str,
    body: object,
    path: str,
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


def _spoken(body: dict[str, Any], more: dict[str, Any]) -> bytes:
    return json.dumps({"model": "m-1", **body, **more}).encode()


@dataclass
class Wire:
    """A gateway, a scripted provider behind it, and a client before it."""

    gateway: Gateway
    scripted: Scripted
    folder: Path
    key: str = KEY

    @property
    def file(self) -> Path:
        """Where recordings are sealed."""
        return self.folder / "cassettes" / "1.json"

    def post(self, route: Route | str, body: object, path: str = PATH, **more: Any) -> Answer:
        """Ask on a route, or at a base URL."""
        return _post(route if isinstance(route, str) else route.base_url, body, path, **more)

    def live(self, *, key_header: str = "x-api-key", **more: Any) -> AbstractContextManager[Route]:
        """Open a route to the scripted provider for the models m and n."""
        upstream = Upstream(url=self.scripted.url, key=KEY, key_header=key_header)
        return self.open(mode=Mode.LIVE, upstreams={"m": upstream, "n": upstream}, **more)

    def replay(self, tape: CassetteFile | None, **more: Any) -> AbstractContextManager[Route]:
        """Open a route that plays a tape."""
        return self.open(mode=Mode.REPLAY, tape=tape, **more)

    def open(self, **spec: Any) -> AbstractContextManager[Route]:
        """Open any route."""
        return self.gateway.open_route(RouteSpec(**spec))

    def sealed(self, route: Route, path: Path | None = None) -> CassetteFile:
        """Seal a route and read the file again."""
        target = path or self.file
        route.seal(target, header=Header(task="t"), claim={"files": {}}, record={"agent": {}})
        return load_cassette(target.read_bytes(), name=str(target))

    def asked(self, text: str = "hello", **more: Any) -> dict[str, Any]:
        """Return a request that both dialects understand."""
        return {"model": "m", "messages": [{"role": "user", "content": text}], **more}

    def message(self, text: str = "done", *calls: dict[str, Any], **more: Any) -> bytes:
        """Return a reply of the messages API."""
        content = [{"type": "text", "text": text}] if text else []
        uses = [{"type": "tool_use", **call} for call in calls]
        usage = {"input_tokens": 10, "output_tokens": 5}
        said = {"type": "message", "content": content + uses, "usage": usage}
        return _spoken({**said, "stop_reason": "end_turn"}, more)

    def chat(self, text: str | None = "done", *calls: dict[str, Any], **more: Any) -> bytes:
        """Return a reply of the chat API."""
        said = {"role": "assistant", "content": text, "tool_calls": list(calls)}
        cached = {"cached_tokens": 4}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": cached}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        return _spoken({"choices": [choice], "usage": usage}, more)


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """Return a provider that answers by script."""
    provider = Scripted()
    yield provider
    provider.close()


@pytest.fixture
def wire(scripted: Scripted, tmp_path: Path) -> Iterator[Wire]:
    """Return a wire whose gateway knows one secret beside the keys of its routes."""
    with open_gateway(redactor=Redactor({"SITE_TOKEN": "hunter2hunter2"})) as gateway:
        yield Wire(gateway, scripted, tmp_path)

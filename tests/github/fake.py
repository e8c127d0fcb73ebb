"""A stateful GitHub on loopback, each request and answer of which is held against the contract."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.github.description import Contract, minimal
from tests.serving import serving

TOKEN = "ghs_" + "0" * 36
REPO = "/repos/o/r"
BOT = "github-actions[bot]"


@dataclass(frozen=True)
class Reply:
    """What is answered; ``described`` is false for what the description leaves out."""

    status: int
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    described: bool = True
    data: bytes = b""


@dataclass
class Fault:
    """Answers a request in another way: ``times`` times, in place of what it asks or ``after`` it.

    ``then`` is what happens at the same time.
    """

    method: str
    path: str
    reply: Reply | None
    times: int = 1
    after: bool = False
    then: Callable[[], object] = bool


@dataclass
class FakeGitHub:
    """Comments of pull requests, who posts, the newest runs' artifacts, and what goes wrong."""

    url: str = ""
    login: str | None = None
    allowed: bool = True
    storage: str = ""
    ceiling: int = 262_144
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[tuple[str, str]] = field(default_factory=list)
    contract: Contract = field(default_factory=Contract)
    meanwhile: Callable[[], None] | None = None

    def add(self, body: str, author: str = BOT, pull: int = 7) -> int:
        """Let somebody comment; return the comment's id."""
        number = max(self.comments, default=1000) + 1
        self.comments[number] = minimal(
            "issue-comment",
            id=number,
            body=body,
            user=minimal("simple-user", login=author),
            html_url=f"https://github.example/o/r/pull/{pull}#issuecomment-{number}",
        )
        return number

    def bodies(self) -> list[str]:
        """Return the comments there are, the oldest first."""
        return [one["body"] for one in self.comments.values()]

    def writes(self) -> list[str]:
        """Return what was asked to be changed."""
        return [f"{method} {path}" for method, path in self.asked if method != "GET"]

    def open_pull(self, number: int, sha: str, head: str = "fork:topic") -> None:
        """Open a pull request."""
        owner, branch = head.split(":")
        made = minimal("pull-request-simple", number=number)
        made["head"] = {**made["head"], "sha": sha, "label": head, "ref": branch}
        made["base"] = {**made["base"], "ref": "main"}
        made["head"]["user"] = minimal("simple-user", login=owner)
        self.pulls.append(made)

    def answer(self, method: str, target: str, body: bytes) -> Reply:
        """Answer one request."""
        path = urlsplit(target).path
        fault = next(
            (
                one
                for one in self.faults
                if one.times and one.method == method and re.fullmatch(one.path, path)
            ),
            None,
        )
        if fault is not None:
            fault.times -= 1
            fault.then()
            if fault.after:
                self._do(method, target, body)
            return fault.reply or Reply(0)
        return self._do(method, target, body)

    def _do(self, method: str, target: str, body: bytes) -> Reply:
        parts = urlsplit(target)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        if parts.path == "/user":
            if self.login is None:
                return Reply(403, {"message": "Resource not accessible by integration"})
            return Reply(200, minimal("private-user", login=self.login, user_view_type="private"))
        if re.fullmatch(rf"{REPO}/issues/\d+/comments", parts.path):
            return self._list(parts.path, query) if method == "GET" else self._create(body)
        if found := re.fullmatch(rf"{REPO}/issues/comments/(\d+)", parts.path):
            return self._change(method, int(found[1]), body)
        if parts.path == f"{REPO}/pulls":
            return Reply(200, [one for one in self.pulls if one["head"]["label"] == query["head"]])
        return self._artifact(parts.path, query)

    def _artifact(self, path: str, query: dict[str, str]) -> Reply:
        if re.fullmatch(rf"{REPO}/actions/runs/\d+/artifacts", path):
            return self._artifacts(query["name"])
        if found := re.fullmatch(rf"{REPO}/actions/artifacts/(\d+)/zip", path):
            return Reply(
                302, headers={"location": f"{self.storage or self.url}/storage/{found[1]}"}
            )
        if found := re.fullmatch(r"/storage/(\d+)", path):
            data = [*self.artifacts.values()][int(found[1]) - 1]
            return Reply(200, described=False, data=data)
        return Reply(404, {"message": "Not Found"}, described=False)

    def _list(self, path: str, query: dict[str, str]) -> Reply:
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        rows = [*self.comments.values()]
        headers = {}
        if page * size < len(rows):
            following = f"{self.url}{path}?per_page={size}&page={page + 1}"
            headers["link"] = f'<{following}>; rel="next", <{self.url}{path}?page=9>; rel="last"'
        return Reply(200, rows[(page - 1) * size : page * size], headers)

    def _create(self, body: bytes) -> Reply:
        text = json.loads(body)["body"]
        if not self.allowed:
            return Reply(403, {"message": "Resource not accessible by integration"})
        if len(text.encode()) > self.ceiling:
            return self._too_long()
        number = self.add(text, self.login or BOT)
        if self.meanwhile is not None:
            self.meanwhile()
        return Reply(201, self.comments[number])

    def _change(self, method: str, number: int, body: bytes) -> Reply:
        if number not in self.comments:
            return Reply(404, {"message": "Not Found"}, described=False)
        if method == "DELETE":
            del self.comments[number]
            return Reply(204)
        text = json.loads(body)["body"]
        if len(text.encode()) > self.ceiling:
            return self._too_long()
        self.comments[number]["body"] = text
        return Reply(200, self.comments[number])

    def _too_long(self) -> Reply:
        error = {"resource": "IssueComment", "code": "unprocessable", "message": "is too long"}
        answer = {"message": "Validation Failed", "documentation_url": "https://docs.github.com"}
        return Reply(422, {**answer, "errors": [error]})

    def _artifacts(self, name: str) -> Reply:
        found = [
            minimal("artifact", id=number, name=one, expired=False)
            for number, one in enumerate(self.artifacts, 1)
            if one == name
        ]
        return Reply(200, {"total_count": len(found), "artifacts": found})


class _Handler(BaseHTTPRequestHandler):
    """Answers as the state says; one request at a time."""

    state: FakeGitHub
    lock: threading.Lock

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.lock:
            path = self.path.removeprefix("/api/v3")  # an enterprise's
            self.state.asked.append((self.command, self.path))
            self.state.tokens.append((path, self.headers.get("authorization", "")))
            reply = self.state.answer(self.command, path, body)
            data = reply.data if reply.value is None else json.dumps(reply.value).encode()
            if reply.status and reply.described:
                self.state.contract.examine(self.command, path, body, reply.status, data)
        if not reply.status:  # the line goes dead
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = _handle  # noqa: N815 - the names that http.server looks for
    do_POST = _handle  # noqa: N815
    do_PATCH = _handle  # noqa: N815
    do_DELETE = _handle  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve() -> Iterator[FakeGitHub]:
    """Serve a fake GitHub on loopback; at the end nothing was against the contract."""
    state = FakeGitHub()
    handler = type("Handler", (_Handler,), {"state": state, "lock": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield state
    assert state.contract.violations == []

"""A plan served on loopback, and a client that plays an agent's part in every dialect."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evalgate.core.schema import Source
from evalgate.gateway.scripted.plan import load_plan
from evalgate.gateway.scripted.server import at_task, open_scripted

TASK = "a/b é 100%"

PLAN = """
format = 1

[[task]]
id = "a/b é 100%"

[[task.reply]]
text = "I look at the file first, 北京 and all of it."

[[task.reply.call]]
name = "read_file"
input = { path = "add.py" }

[[task.reply.call]]
name = "list_files"

[[task.reply]]

[[task.reply.call]]
name = "write_file"
input = { path = "add.py", content = "def add(a, b):\\n    return a + b\\n", mode = 420 }

[[task.reply]]
text = "Done."

[[task]]
id = "*"

[[task.reply]]
text = "Any task."
"""


@dataclass
class Server:
    """A scripted upstream: ``url`` is that of no task, ``post`` asks at one of a task."""

    url: str

    def post(self, path: str, body: object, task: str = TASK) -> tuple[int, bytes]:
        """Return status and body of an answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._ask(urllib.request.Request(at_task(self.url, task) + path, data=data))

    def get(self, path: str) -> tuple[int, Any]:
        """Return status and parsed body."""
        status, body = self._ask(urllib.request.Request(self.url + path))
        return status, json.loads(body)

    def _ask(self, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve the plan for the models m-1 and m-2."""
    plan = load_plan(Source("plan.toml", PLAN))
    with open_scripted({"m-1": plan, "m-2": plan}) as url:
        yield Server(url)


@dataclass(frozen=True)
class Client:
    """How an agent asks in one dialect: the path, the body, and what it gives back."""

    name: str
    path: Callable[[bool], str]
    body: Callable[[list[Any], bool], dict[str, Any]]
    back: Callable[[Any], list[Any]]


def _anthropic_back(reply: Any) -> list[Any]:
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
        for block in reply["content"]
        if block["type"] == "tool_use"
    ]
    told = results or "and now?"
    said = {"role": "assistant", "content": reply["content"]}
    return [said, {"role": "user", "content": told}]


def _chat_back(reply: Any) -> list[Any]:
    message = reply["choices"][0]["message"]
    calls = message.get("tool_calls", [])
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls]
    return [message, *(results or [{"role": "user", "content": "and now?"}])]


def _responses_back(reply: Any) -> list[Any]:
    calls = [item for item in reply["output"] if item["type"] == "function_call"]
    results = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}
        for call in calls
    ]
    return [*reply["output"], *(results or [{"role": "user", "content": "and now?"}])]


def _gemini_back(reply: Any) -> list[Any]:
    content = reply["candidates"][0]["content"]
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    results = [
        {"functionResponse": {"name": call["name"], "response": {"output": "ok"}}} for call in calls
    ]
    told = results or [{"text": "and now?"}]
    return [content, {"role": "user", "parts": told}]


def _gemini_body(said: list[Any], stream: bool) -> dict[str, Any]:
    del stream  # it is in the path
    ask = {"role": "user", "parts": [{"text": "fix it"}]}
    return {"contents": [ask, *said], "tools": [{"functionDeclarations": []}]}


ASK = {"role": "user", "content": "fix it"}

CLIENTS = (
    Client(
        name="anthropic",
        path=lambda _: "/v1/messages?beta=true",
        body=lambda said, stream: {
            "model": "m-1",
            "messages": [ASK, *said],
            "tools": [{"name": "t"}],
            "stream": stream,
        },
        back=_anthropic_back,
    ),
    Client(
        name="openai-chat",
        path=lambda _: "/v1/chat/completions",
        body=lambda said, stream: {
            "model": "m-1",
            "messages": [ASK, *said],
            "tools": [{"type": "function"}],
            "stream": stream,
            "stream_options": {"include_usage": True},
        },
        back=_chat_back,
    ),
    Client(
        name="openai-responses",
        path=lambda _: "/v1/responses",
        body=lambda said, stream: {
            "model": "m-1",
            "input": [ASK, *said],
            "tools": [{"type": "function"}],
            "stream": stream,
        },
        back=_responses_back,
    ),
    Client(
        name="gemini",
        path=lambda stream: (
            "/v1beta/models/m-1:"
            + ("streamGenerateContent?alt=sse" if stream else "generateContent")
        ),
        body=_gemini_body,
        back=_gemini_back,
    ),
)


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """Return an agent's side of each dialect in turn."""
    found: Client = request.param
    return found

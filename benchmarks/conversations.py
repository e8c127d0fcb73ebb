"""Conversations as a coding agent has them with its model: requests that grow, streamed replies.

A request holds a system prompt of 10 KB, tools of 60 KB and all messages so far: 75 KB in the
first turn, 225 KB in the last, 150 KB on average. A reply is a stream of some forty events. All
trials of a suite share system and tools, the trials of a task its workspace; what the model says
and asks for differs in each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import orjson

from benchmarks import texts
from benchmarks.replies import new_id, stream

MODEL: Final = "claude-sonnet-4-5"
PATH: Final = "/v1/messages"
PLACES: Final = {"REPO": "/evalgate/repo", "HOME": "/evalgate/home", "TMP": "/evalgate/tmp"}

_SYSTEM_SIZE, _TOOLS_SIZE = 10_000, 60_000
_FIRST_SIZE, _LAST_SIZE = 75_000, 225_000
_TOOLS: Final = 16
_MARK: Final[dict[str, Any]] = {"cache_control": {"type": "ephemeral"}}
_MARKED: Final = b',"cache_control":{"type":"ephemeral"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One trial on the wire: all that its agent sends, and what it gets.

    ``messages`` holds the messages as JSON without a mark, one or two for each turn; with
    ``moving`` the newest one of a request is marked, as agents mark what a provider may cache.
    """

    task: int
    trial: int
    head: bytes
    tail: bytes
    messages: tuple[bytes, ...]
    replies: tuple[bytes, ...]
    moving: bool

    @property
    def name(self) -> str:
        """Name the conversation in its suite: its path before the API's own."""
        return f"{self.task}-{self.trial}"

    def request(self, turn: int) -> bytes:
        """Return the body of the request of a turn, from 0."""
        sent = list(self.messages[: 2 * turn + 1])
        if self.moving:
            # A user's message ends with its last block: {... "content":[..., {...}]}
            sent[-1] = sent[-1].removesuffix(b"}]}") + _MARKED + b"}]}"
        return self.head + b",".join(sent) + self.tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What is recorded; equal suites give equal conversations.

    ``moving`` is whether the mark of what to cache moves to the newest message; ``edits`` are
    words added to the system prompt; ``sample`` tells one recording from the next: the same
    tasks, another draw of the model. With ``paced`` each event of a reply leaves by itself, as a
    provider sends them; else only the first does.
    """

    tasks: int = 20
    trials: int = 3
    turns: int = 30
    moving: bool = False
    edits: tuple[str, ...] = ()
    sample: int = 0
    paced: bool = False

    @property
    def requests(self) -> int:
        """How many requests the suite makes."""
        return self.tasks * self.trials * self.turns

    def conversations(self) -> Iterator[Conversation]:
        """Make all conversations, one after the other."""
        for task in range(self.tasks):
            for trial in range(self.trials):
                yield _converse(self, task, trial)


def _converse(suite: Suite, task: int, trial: int) -> Conversation:
    files = _workspace(task)
    rng = random.Random(f"{task} {trial} {suite.sample}")
    opening = {"model": MODEL, "messages": []}
    head = orjson.dumps(opening).removesuffix(b"]}")
    tail = b"]," + orjson.dumps(_rest(suite)).removeprefix(b"{")
    messages = [_asked(task)]
    replies: list[bytes] = []
    # The same text for whatever is marked or edited, so that only that differs.
    plain = orjson.dumps(_rest(replace(suite, moving=False, edits=())))
    size = len(head) + len(plain) + len(messages[0])
    for turn in range(suite.turns):
        last = turn == suite.turns - 1
        said = texts.prose(rng, rng.randrange(150, 450))
        use = None if last else _use(rng, files)
        replies.append(stream(rng, model=MODEL, text=said, use=use, size=size))
        if use is None:
            break
        call = {"type": "tool_use", **use}
        content = [{"type": "text", "text": said}, call]
        messages.append(orjson.dumps({"role": "assistant", "content": content}))
        wanted = _FIRST_SIZE + (_LAST_SIZE - _FIRST_SIZE) * (turn + 1) / (suite.turns - 1)
        room = int((wanted - size - len(messages[-1])) * rng.uniform(0.7, 1.3))
        messages.append(_result(rng, use, files, max(200, room)))
        size += len(messages[-2]) + len(messages[-1]) + 2
    return Conversation(
        task=task,
        trial=trial,
        head=head,
        tail=tail,
        messages=tuple(messages),
        replies=tuple(replies),
        moving=suite.moving,
    )


@cache
def _workspace(task: int) -> tuple[texts.SourceFile, ...]:
    rng = random.Random(f"workspace {task}")
    return tuple(rng.sample(texts.sources(), 14))


@cache
def _rest(suite: Suite) -> Mapping[str, Any]:
    """Return the members that stand behind the messages."""
    rng = random.Random("harness")
    system = texts.prose(rng, _SYSTEM_SIZE - 200).split(". ")
    for edit in suite.edits:
        place = random.Random(edit).randrange(len(system))
        system[place] = f"{system[place]} {edit}"
    prompt = ".\n".join(system) + "\nYou work in /evalgate/repo."
    tools: list[dict[str, Any]] = [_tool(rng, number) for number in range(_TOOLS)]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "You are a coding agent."},
        {"type": "text", "text": prompt},
    ]
    if suite.moving:
        blocks[-1] |= _MARK
        tools[-1] |= _MARK
    return {
        "system": blocks,
        "tools": tools,
        "metadata": {"user_id": '{"device_id":"0","session_id":"1"}'},
        "max_tokens": 32000,
        "thinking": {"type": "disabled"},
        "stream": True,
    }


def _tool(rng: random.Random, number: int) -> dict[str, Any]:
    name = ("Read", "Bash", "Grep", "Edit")[number] if number < 4 else f"Tool{number}"
    share = _TOOLS_SIZE // _TOOLS
    parameters = {
        word: {"type": "string", "description": texts.prose(rng, share // 16)}
        for word in ("path", "pattern", "command", "text")
    }
    paragraphs = [texts.prose(rng, share // 8) for _ in range(4)]
    schema = {"type": "object", "properties": parameters, "required": ["path"]}
    return {"name": name, "description": "\n\n".join(paragraphs), "input_schema": schema}


def _asked(task: int) -> bytes:
    rng = random.Random(f"instruction {task}")
    context = f"<context>\nWorking directory: /evalgate/repo\n{texts.prose(rng, 3500)}\n</context>"
    wish = f"Task number {task:03} of the suite. {texts.prose(rng, 800)}"
    content = [{"type": "text", "text": context}, {"type": "text", "text": wish}]
    return orjson.dumps({"role": "user", "content": content})


def _use(rng: random.Random, files: Sequence[texts.SourceFile]) -> dict[str, Any]:
    name = rng.choices(("Read", "Bash", "Grep", "Edit"), (5, 3, 2, 3))[0]
    file = rng.choice(files)
    path = f"/evalgate/repo/{file.path}"
    start = rng.randrange(max(1, len(file.lines) - 10))
    old = "\n".join(file.lines[start : start + 6])
    inputs: dict[str, dict[str, Any]] = {
        "Read": {"file_path": path, "offset": start, "limit": rng.randrange(50, 400)},
        "Bash": {
            "command": f"cd /evalgate/repo && python -m pytest -x {file.path} 2>&1 | tail -80",
            "description": texts.prose(rng, 60),
        },
        "Grep": {"pattern": rng.choice(file.names), "path": "/evalgate/repo", "-n": True},
        "Edit": {
            "file_path": path,
            "old_string": old,
            "new_string": old.replace("self", "this").replace("return ", "return not "),
        },
    }
    return {"id": new_id(rng, "toolu_01", 22), "name": name, "input": inputs[name]}


def _result(
    rng: random.Random, use: Mapping[str, Any], files: tuple[texts.SourceFile, ...], room: int
) -> bytes:
    path = use["input"].get("file_path", "").removeprefix("/evalgate/repo/")
    file = next((one for one in files if one.path == path), files[0])
    # Quotes and line ends take two bytes each once they are JSON.
    size = room * 19 // 20 - 150
    if use["name"] == "Bash":
        output = texts.test_log(rng, files, size)
    elif use["name"] == "Grep":
        output = texts.found(rng, files, size)[0]
    else:
        output = texts.excerpt(rng, file, size)[0]
    if use["name"] == "Edit":
        output = f"The file /evalgate/repo/{path} has been updated:\n{output}"
    block = {"type": "tool_result", "tool_use_id": use["id"], "content": output}
    # The content comes last, so that the last block of every message ends with "}]}".
    return orjson.dumps({"role": "user", "content": [block]})

"""The sandbox as an MCP server: as the official client speaks to it, and message by message."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evalgate.commands.mcp import VERSIONS, Server
from evalgate.sandboxes.client import Client
from evalgate.sandboxes.toolanswer import ToolAnswer
from tests.answering import answering
from tests.pausing import pausing

SCRIPT = Path(sys.executable).parent / "evalgate"

#: A call is answered at each of so many steps of its being given up.
STEPS = 100


def answers(place: str, *messages: object, wanted: int | None = None) -> list[dict]:
    """Return what the server says to messages, each a document or raw bytes.

    It is left once it has said so many things as are ``wanted``: one to each message.
    """
    out = io.BytesIO()
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as asked, ThreadPoolExecutor(1) as pool:
        with os.fdopen(writer, "wb", buffering=0) as said:
            serving = pool.submit(Server(Client(place), out).serve, asked)
            for message in messages:
                line = message if isinstance(message, bytes) else json.dumps(message).encode()
                said.write(line + b"\n")
            while out.getvalue().count(b"\n") < (len(messages) if wanted is None else wanted):
                time.sleep(0.005)
        assert serving.result() == 0
    return [json.loads(line) for line in out.getvalue().splitlines()]


def call(name: str, **arguments: object) -> dict:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [*((version, version) for version in VERSIONS), ("1999-01-01", VERSIONS[-1])],
)
def test_the_version_asked_for_is_spoken_where_it_is_known(asked: str, spoken: str) -> None:
    """Else the newest one, as the protocol has it."""
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    (answer,) = answers("nowhere", message)
    assert answer["result"]["protocolVersion"] == spoken
    assert answer["result"]["capabilities"] == {"tools": {}}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"{", -32700),
        (b"7", -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "dance"}, -32601),
        (call("dance"), -32602),
    ],
)
def test_what_is_no_request_is_refused_as_json_rpc_has_it(message: object, code: int) -> None:
    """And the server goes on."""
    first, second = answers("nowhere", message, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
    both = {answer.get("id"): answer for answer in (first, second)}
    assert both.pop(2)["result"] == {}
    assert next(iter(both.values()))["error"]["code"] == code


def test_notifications_and_answers_are_not_answered() -> None:
    """A batch is, in one piece, as one version of the protocol has it."""
    silent = ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"id": 1, "result": {}})
    assert answers("nowhere", *silent, wanted=0) == []
    (batch,) = answers("nowhere", [*silent, {"jsonrpc": "2.0", "id": 5, "method": "ping"}])
    assert batch == [{"jsonrpc": "2.0", "id": 5, "result": {}}]


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        (call("bash", command="cat a.txt"), False, "old\n"),
        (call("bash", command="echo so; exit 3"), True, "so\n\n[exit code 3]"),
        (call("bash", command="sleep 60", timeout=0.2), True, "[ended: the time-out was reached]"),
        (call("bash", command=7), True, "command: a text that is not empty"),
        (call("bash", command="a", timeout="x"), True, "timeout: a number above 0"),
        (call("read_file", path="a.txt"), False, "old\n"),
        (call("read_file", path="b.txt"), True, "b.txt: No such file"),
        (call("read_file"), True, "path: a text that is not empty"),
        (call("write_file", path="b/c.txt", content="é"), False, "written"),
        (call("write_file", path="b", content=None), True, "content: a text"),
    ],
)
def test_each_tool_says_what_came_of_it(place: str, message: dict, error: bool, text: str) -> None:
    """Failures are told to the model, not to the protocol."""
    (answer,) = answers(place, message)
    (content,) = answer["result"]["content"]
    assert content["text"].startswith(text)
    assert answer["result"]["isError"] is error


def test_a_sandbox_that_is_gone_is_told_to_the_model(tmp_path: Path) -> None:
    """The agent may say so, and ends with its trial."""
    (answer,) = answers(str(tmp_path / "gone"), call("bash", command="true"))
    assert "can not be reached" in answer["result"]["content"][0]["text"]


def test_the_official_client_works_with_it(place: str) -> None:
    """It lists the tools, and calls them, two of them at the same time."""
    mcp = pytest.importorskip("mcp")
    stdio = pytest.importorskip("mcp.client.stdio")

    async def speak() -> list[str]:
        environment = {"EVALGATE_SANDBOX": place, "PATH": f"{SCRIPT.parent}:/usr/bin:/bin"}
        server = mcp.StdioServerParameters(
            command=str(SCRIPT), args=["sandbox", "mcp"], env=environment
        )
        async with stdio.stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert [tool.name for tool in tools] == ["bash", "read_file", "write_file"]
            await session.call_tool("bash", {"command": "mkfifo one other"})
            both = await asyncio.gather(
                session.call_tool("bash", {"command": "echo a >one; cat other"}),
                session.call_tool("bash", {"command": "cat one; echo b >other"}),
            )
            await session.call_tool("write_file", {"path": "é.txt", "content": "ß"})
            read = await session.call_tool("read_file", {"path": "é.txt"})
            return [result.content[0].text for result in (*both, read)]

    assert asyncio.run(speak()) == ["b\n", "a\n", "ß"]


def cancelled(name: object) -> dict:
    params = {"requestId": name, "reason": "enough"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def written_pid(place: str) -> str:
    """Return what a program of the sandbox wrote to the file pid."""
    pid = ""
    while not pid.endswith("\n"):
        reply = answers(place, call("read_file", path="pid"))[0]["result"]
        pid = "" if reply["isError"] else reply["content"][0]["text"]
    return pid.strip()


@pytest.mark.parametrize("name", [1, "one"])
def test_a_call_that_is_given_up_is_ended_and_not_answered(place: str, name: object) -> None:
    """Its program is gone; it ran, or it waits behind as many others as run at once."""
    long = {**call("bash", command="echo $$ >pid; exec sleep 600"), "id": name}
    reader, writer = os.pipe()
    out = io.BytesIO()
    with os.fdopen(reader, "rb") as messages, os.fdopen(writer, "wb", buffering=0) as said:
        serving = threading.Thread(target=Server(Client(place), out).serve, args=(messages,))
        serving.start()
        said.write(json.dumps(long).encode() + b"\n")
        pid = written_pid(place)
        for message in (cancelled("other"), cancelled([1]), cancelled(name)):
            said.write(json.dumps(message).encode() + b"\n")
        said.close()
        serving.join()
    assert out.getvalue() == b""
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.01)


def test_calls_that_wait_are_given_up_as_well(place: str) -> None:
    """All that may run at once are ended, and what waited behind them never begins."""
    many = [{**call("bash", command=f"sleep 600; touch {n}"), "id": n} for n in range(40)]
    ended = [cancelled(n) for n in range(40)]
    assert answers(place, *many, *ended, wanted=0) == []
    (answer,) = answers(place, call("bash", command="ls"))
    assert answer["result"]["content"][0]["text"] == "a.txt\n"


def given_up(variables: Mapping[str, Any]) -> int | None:
    message = variables.get("message", {})
    return message["params"]["requestId"] if message["method"] != "tools/call" else None


def test_what_is_given_up_as_it_is_answered_ends_nothing(tmp_path: Path) -> None:
    """A client can not know that its answer is on the way; the server goes on."""
    messages: list[dict] = []
    for n in range(STEPS):
        messages += [{**call("bash", command="true"), "id": n}, cancelled(n)]
    messages.append(call("dance"))
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    out = io.BytesIO()
    with pausing("_begin", given_up):
        assert Server(Client(str(tmp_path / "gone")), out).serve(io.BytesIO(lines)) == 0
    assert b"there is no tool dance" in out.getvalue()


def test_it_ends_with_its_input(place: str) -> None:
    """No client, no server, and no program that nobody waits for."""
    assert answers("nowhere") == []
    long = call("bash", command="echo $$ >pid; exec sleep 600")
    reader, writer = os.pipe()
    out = io.BytesIO()
    with os.fdopen(reader, "rb") as messages, os.fdopen(writer, "wb", buffering=0) as said:
        serving = threading.Thread(target=Server(Client(place), out).serve, args=(messages,))
        serving.start()
        said.write(json.dumps(long).encode() + b"\n")
        pid = written_pid(place)
        said.close()
        serving.join()
    assert out.getvalue() == b""
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.01)


@pytest.mark.parametrize("line", [b"{", b"[]\n", b'{"output": "?", "exit_code": 256}\n'])
def test_an_answer_that_makes_no_sense_is_told_to_the_model(tmp_path: Path, line: bytes) -> None:
    """Whoever asked is not left waiting, and is not told that it went well."""
    place = tmp_path / "sandbox"
    with answering(place, line):
        (answer,) = answers(str(place), call("bash", command="true"))
    assert answer["result"]["isError"]


class Broken(Client):
    """Fails in a way that nobody thought of."""

    def ask(self, *_: object) -> ToolAnswer:
        raise ValueError("unthought of")


def test_whatever_goes_wrong_is_answered() -> None:
    """As JSON-RPC has it: an internal error."""
    out = io.BytesIO()
    message = json.dumps(call("bash", command="true")).encode()
    Server(Broken("nowhere"), out).serve(io.BytesIO(message))
    assert json.loads(out.getvalue())["error"]["code"] == -32603

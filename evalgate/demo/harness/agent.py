#!/usr/bin/env python3
"""A small coding agent, whole in one file: the harness that the demo puts to trial.

In rewrite mode (for a tiny model) it asks once, and the first code block of the answer becomes
the file. In shell mode (for a capable model) it loops with the bash tool until no tool is called.

The working directory is the workspace. The prompts and the tools lie beside this file: they are
what one edits. A request holds nothing that changes between two runs: no date, path or random id.

Exit codes: 0 the model finished, 1 the API or the instruction failed, 2 usage, 3 out of turns.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import http.client
import json
import os
import re
import signal
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
API_SECONDS = 600
COMMAND_SECONDS = 30
OUTPUT_CHARACTERS = 4000
FENCE = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.DOTALL | re.MULTILINE)

Json = dict[str, Any]


class Reply(NamedTuple):
    """The text of an answer, its tool calls (id to JSON arguments), the message to echo."""

    text: str
    calls: dict[str, str]
    message: Json


class OpenAi:
    """The chat completions dialect."""

    path, key_header, key_prefix = "/chat/completions", "authorization", "Bearer "

    def body(self, system: str, messages: list[Json], tools: list[Json]) -> Json:
        """Return the part of a request that holds the conversation."""
        body: Json = {"messages": [{"role": "system", "content": system}, *messages]}
        if tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in tools]
        return body

    def join(self, events: list[Json]) -> Json:
        """Assemble a stream into the answer that would have come in one piece."""
        text, calls = "", dict[int, Json]()
        for choice in (choice for event in events for choice in event.get("choices", ())):
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or ():
                blank = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                call = calls.setdefault(part["index"], blank)
                call["id"] += part.get("id") or ""
                for key, piece in part["function"].items():
                    call["function"][key] += piece or ""
        return {"choices": [{"message": {"content": text, "tool_calls": list(calls.values())}}]}

    def read(self, answer: Json) -> Reply:
        """Read an answer."""
        said = answer["choices"][0]["message"]
        text, raw = said.get("content") or "", said.get("tool_calls") or []
        calls = {call["id"]: call["function"]["arguments"] for call in raw}
        return Reply(text, calls, {"role": "assistant", "content": text, "tool_calls": raw})

    def results(self, outputs: dict[str, str]) -> list[Json]:
        """Return the messages that carry the outputs of tool calls."""
        return [{"role": "tool", "tool_call_id": i, "content": out} for i, out in outputs.items()]


class Anthropic:
    """The messages dialect."""

    path, key_header, key_prefix = "/v1/messages", "x-api-key", ""

    def body(self, system: str, messages: list[Json], tools: list[Json]) -> Json:
        """Return the part of a request that holds the conversation."""
        body: Json = {"max_tokens": 1024, "system": system, "messages": messages}
        if tools:
            names = {"parameters": "input_schema"}
            body["tools"] = [{names.get(key, key): tool[key] for key in tool} for tool in tools]
        return body

    def join(self, events: list[Json]) -> Json:
        """Assemble a stream into the answer that would have come in one piece."""
        blocks = list[Json]()
        for event in events:
            if event["type"] == "content_block_start":
                blocks.append(event["content_block"])
            elif event["type"] == "content_block_delta":
                block = blocks[event["index"]]
                for key, piece in event["delta"].items():
                    if key != "type":
                        block[key] = block.get(key, "") + piece
        for block in blocks:
            if written := block.pop("partial_json", ""):
                block["input"] = json.loads(written)
        return {"content": blocks}

    def read(self, answer: Json) -> Reply:
        """Read an answer."""
        blocks: list[Json] = answer["content"]
        text = "".join(b["text"] for b in blocks if b["type"] == "text")
        calls = {b["id"]: json.dumps(b["input"]) for b in blocks if b["type"] == "tool_use"}
        return Reply(text, calls, {"role": "assistant", "content": blocks})

    def results(self, outputs: dict[str, str]) -> list[Json]:
        """Return the messages that carry the outputs of tool calls."""
        blank = {"type": "tool_result"}
        blocks = [blank | {"tool_use_id": i, "content": out} for i, out in outputs.items()]
        return [{"role": "user", "content": blocks}]


DIALECTS: dict[str, OpenAi | Anthropic] = {"openai": OpenAi(), "anthropic": Anthropic()}


class Model(NamedTuple):
    """A model behind one of the dialects; ``fields`` go into every request as they are."""

    dialect: OpenAi | Anthropic
    url: str
    key: str
    fields: Json

    def ask(self, system: str, messages: list[Json], tools: list[Json]) -> Reply:
        """Send one request, never twice; exit for anything but a whole answer."""
        body = self.dialect.body(system, messages, tools) | self.fields
        content = json.dumps(body, ensure_ascii=False).encode()
        headers = {
            "content-type": "application/json",
            "anthropic-version": "2023-06-01",
            self.dialect.key_header: self.dialect.key_prefix + self.key,
        }
        target = urlsplit(self.url.rstrip("/") + self.dialect.path)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        connection = kinds[target.scheme](target.netloc, timeout=API_SECONDS)
        try:
            connection.request("POST", target.path, content, headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status != http.HTTPStatus.OK:
                sys.exit(answer.decode(errors="replace"))
            whole = self.dialect.join(_events(answer)) if body["stream"] else json.loads(answer)
            return self.dialect.read(whole)
        except (OSError, http.client.HTTPException) as error:
            sys.exit(f"no answer from {target.netloc}: {error!r}")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            sys.exit(f"an answer of an unknown form: {error!r}")


def _events(stream: bytes) -> list[Json]:
    """Return the JSON events of a whole stream of server-sent events."""
    lines = [line[5:].strip() for line in stream.splitlines() if line.startswith(b"data:")]
    events = [json.loads(line) for line in lines if line != b"[DONE]"]
    for event in events:
        if event.get("error"):
            sys.exit(json.dumps(event, ensure_ascii=False))
    if lines[-1] != b"[DONE]" and events[-1].get("type") != "message_stop":
        sys.exit("the stream broke off")
    return events


def rewrite(model: Model, instruction: str) -> int:
    """Ask once for the corrected file; write the answer when it is Python."""
    names = re.findall(r"`([^`\s]+)`", instruction)
    inside = (Path(name) for name in names if Path(name).resolve().is_relative_to(Path.cwd()))
    path = next((path for path in inside if path.is_file()), None)
    if path is None:
        sys.exit("the instruction names no file of the workspace in backticks")
    question = f"{instruction.rstrip()}\n\n```python\n{path.read_text().rstrip()}\n```"
    system = (HERE / "prompts/rewrite.md").read_text()
    reply = model.ask(system, [{"role": "user", "content": question}], [])
    fence = FENCE.search(reply.text)
    code = (fence[1] if fence else reply.text).strip("\n") + "\n"
    with contextlib.suppress(SyntaxError, ValueError):
        if ast.parse(code).body:
            path.write_text(code)
    sys.stdout.write(reply.text + "\n")
    return 0


def shell(model: Model, instruction: str, max_turns: int) -> int:
    """Let the model work with the tool until it calls it no more."""
    system = (HERE / "prompts/shell.md").read_text()
    tools = json.loads((HERE / "tools.json").read_text())
    messages: list[Json] = [{"role": "user", "content": instruction}]
    for _ in range(max_turns):
        reply = model.ask(system, messages, tools)
        if not reply.calls:
            sys.stdout.write(reply.text + "\n")
            return 0
        outputs = {call: _run(arguments) for call, arguments in reply.calls.items()}
        messages += [reply.message, *model.dialect.results(outputs)]
    sys.stderr.write(f"out of turns: {max_turns}\n")
    return 3


def _run(arguments: str) -> str:
    """Run the command of a tool call; return its exit code and the end of its output."""
    try:
        command = ["/bin/sh", "-c", json.loads(arguments)["command"]]
        process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True)
    except (ValueError, LookupError, TypeError):
        return "not understood: the one tool is bash, and it takes a command"
    try:
        output, _ = process.communicate(timeout=COMMAND_SECONDS)
    except TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0] + b"\nstopped: it took too long"
    return f"exit code {process.returncode}\n{output.decode(errors='replace')[-OUTPUT_CHARACTERS:]}"


def main() -> int:
    """Read the arguments and the environment, then run one mode."""
    parser = argparse.ArgumentParser(description="A small coding agent.")
    parser.add_argument("--mode", choices=["rewrite", "shell"], required=True)
    parser.add_argument("--dialect", choices=DIALECTS, required=True)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--model", required=True)
    parser.add_argument("--instruction-file", type=Path, required=True)
    parser.add_argument("--max-turns", type=int, default=12)
    options = parser.parse_args()
    maker = options.dialect.upper()
    models = json.loads(os.environ.get("EVALGATE_MODELS") or "{}")
    parameters = models.get("main", {}).get("parameters", {})
    fields = {"model": options.model, "stream": options.stream, **parameters}
    url, key = os.environ.get(f"{maker}_BASE_URL"), os.environ.get(f"{maker}_API_KEY", "")
    if not url:
        parser.error(f"{maker}_BASE_URL is not set")
    model = Model(DIALECTS[options.dialect], url, key, fields)
    instruction = options.instruction_file.read_text()
    if options.mode == "rewrite":
        return rewrite(model, instruction)
    return shell(model, instruction, options.max_turns)


if __name__ == "__main__":
    sys.exit(main())

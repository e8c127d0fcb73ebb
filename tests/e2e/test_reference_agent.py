"""The reference agent, run as a process against a scripted API on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.serving import serving

AGENT = Path(__file__).parents[2] / "evalgate" / "demo" / "harness" / "agent.py"
INSTRUCTION = "In `sums.py`, not in `gone.py`, `double(2)` should be 4. Häßlich!\n"
BUGGY = "def double(n):\n    return n + 3\n"
FIXED = "def double(n):\n    return n * 2\n"
FENCED = f"Here it is:\n```python\n{FIXED}```\nDone.\n```python\nignored = 1\n```"
COMMAND = "sed -i 's/n + 3/n * 2/' sums.py && cat sums.py && exit 7"

Turn = str | dict[str, str]  # words, or the arguments of a call of the bash tool


def _openai(turn: Turn) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    if isinstance(turn, str):
        return {"choices": [{"message": {"role": "assistant", "content": turn}}]}
    call["function"]["arguments"] = json.dumps(turn)
    return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}


def _openai_events(turn: Turn) -> list[dict[str, Any]]:
    if isinstance(turn, str):
        deltas: list[dict[str, Any]] = [{"content": piece} for piece in turn]
    else:
        start = {"index": 0, "id": "c1", "type": "function"}
        deltas = [{"tool_calls": [start | {"function": {"name": "bash", "arguments": ""}}]}]
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
            for piece in json.dumps(turn)
        ]
    choices = [{"delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"delta": {}, "finish_reason": "stop"})
    return [{"choices": [choice]} for choice in choices] + [{"choices": [], "usage": {}}]


def _anthropic(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"content": [{"type": "text", "text": turn}]}
    return {"content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": turn}]}


def _anthropic_events(turn: Turn) -> list[dict[str, Any]]:
    if isinstance(turn, str):
        block: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in turn]
    else:
        block = {"type": "tool_use", "id": "c1", "name": "bash", "input": {}}
        pieces = ["", *json.dumps(turn)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]


def _sse(events: list[dict[str, Any]]) -> bytes:
    lines = [f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


class Api:
    """A scripted API: it plays its turns in order and keeps what it was asked."""

    def __init__(self, dialect: str, *, stream: bool) -> None:
        """Speak one dialect."""
        self.dialect = dialect
        self.stream = stream
        self.turns: list[Turn] = []
        self.status = 200
        self.cut = False
        self.bodies: list[bytes] = []
        self.paths: list[str] = []

    def answer(self) -> bytes:
        """Spell the next turn."""
        if self.status != 200:
            return b'{"error": {"type": "invalid_request_error", "message": "no such recording"}}'
        turn = self.turns.pop(0)
        if self.dialect == "openai":
            done = b"" if self.cut else b"data: [DONE]\n\n"
            events = _openai_events(turn)
            return _sse(events) + done if self.stream else json.dumps(_openai(turn)).encode()
        events = _anthropic_events(turn)[: -1 if self.cut else None]
        return _sse(events) if self.stream else json.dumps(_anthropic(turn)).encode()


@pytest.fixture(
    params=[("openai", False), ("openai", True), ("anthropic", False), ("anthropic", True)]
)
def api(request: pytest.FixtureRequest) -> Api:
    """Return an API of every dialect, streamed and not."""
    dialect, stream = request.param
    return Api(dialect, stream=stream)


@pytest.fixture
def url(api: Api) -> Iterator[str]:
    """Serve the API on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            api.paths.append(self.path)
            api.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            content = api.answer()
            self.send_response(api.status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}"


def _run(
    api: Api, url: str, folder: Path, *options: str, instruction: str = INSTRUCTION
) -> subprocess.CompletedProcess[str]:
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "sums.py").write_text(BUGGY)
    (folder / "instruction.md").write_text(instruction)
    parameters = {"temperature": 0.8, "max_tokens": 400}
    command = [sys.executable, AGENT, "--dialect", api.dialect, "--model", "m", *options]
    command += ["--instruction-file", folder / "instruction.md", *["--stream"][: api.stream]]
    return subprocess.run(
        command,
        cwd=workspace,
        env={
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": f"{url}/v1",
            "ANTHROPIC_BASE_URL": url,
            "EVALGATE_MODELS": json.dumps({"main": {"id": "m", "parameters": parameters}}),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_rewrite_writes_the_first_code_block(api: Api, url: str, tmp_path: Path) -> None:
    """One request, with the file and the parameters in it; the answer becomes the file."""
    api.turns = [FENCED]
    result = _run(api, url, tmp_path, "--mode", "rewrite")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == FENCED + "\n"
    assert (tmp_path / "workspace" / "sums.py").read_text() == FIXED
    paths = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
    assert api.paths == [paths[api.dialect]]
    body = json.loads(api.bodies[0])
    assert BUGGY in body["messages"][-1]["content"]
    assert body["stream"] == api.stream
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.8, 400)
    assert "Häßlich".encode() in api.bodies[0], "the encoding escapes nothing"


def test_rewrite_takes_a_bare_answer(api: Api, url: str, tmp_path: Path) -> None:
    """An answer that is Python from end to end needs no code block."""
    api.turns = [FIXED]
    assert _run(api, url, tmp_path, "--mode", "rewrite").returncode == 0
    assert (tmp_path / "workspace" / "sums.py").read_text() == FIXED


@pytest.mark.parametrize(
    "answer", ["", "I can not do that.", "```python\ndef double(n:\n```", "```\n```"]
)
def test_rewrite_leaves_the_file_alone_without_code(
    api: Api, url: str, tmp_path: Path, answer: str
) -> None:
    """An answer without usable code is a poor answer, not a failure of the agent."""
    api.turns = [answer]
    result = _run(api, url, tmp_path, "--mode", "rewrite")
    assert (result.returncode, result.stdout) == (0, answer + "\n")
    assert (tmp_path / "workspace" / "sums.py").read_text() == BUGGY


def test_rewrite_stays_in_the_workspace(api: Api, url: str, tmp_path: Path) -> None:
    """A path that leads out of the workspace is not a file to fix."""
    result = _run(
        api, url, tmp_path, "--mode", "rewrite", instruction="Fix `../instruction.md`, please."
    )
    assert result.returncode == 1
    assert "names no file" in result.stderr
    assert api.bodies == []


def test_shell_works_until_no_tool_is_called(api: Api, url: str, tmp_path: Path) -> None:
    """The tool runs in the workspace, and its exit code and output go back to the model."""
    api.turns = [{"command": COMMAND}, "Fixed."]
    result = _run(api, url, tmp_path, "--mode", "shell")
    assert (result.returncode, result.stdout, result.stderr) == (0, "Fixed.\n", "")
    assert (tmp_path / "workspace" / "sums.py").read_text() == FIXED
    first, second = (json.loads(body) for body in api.bodies)
    assert second["messages"][: len(first["messages"])] == first["messages"]
    call, output = second["messages"][-2:]
    seen = f"exit code 7\n{FIXED}"
    if api.dialect == "openai":
        assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"command": COMMAND}
        assert output == {"role": "tool", "tool_call_id": "c1", "content": seen}
        assert first["tools"][0]["function"]["name"] == "bash"
    else:
        assert call["content"][-1]["input"] == {"command": COMMAND}
        result_block = {"type": "tool_result", "tool_use_id": "c1", "content": seen}
        assert output == {"role": "user", "content": [result_block]}
        assert first["tools"][0]["input_schema"]["required"] == ["command"]


def test_shell_answers_a_call_it_can_not_run(api: Api, url: str, tmp_path: Path) -> None:
    """A call without a command is told so, and the loop goes on."""
    api.turns = [{"cmd": "ls"}, "Never mind."]
    assert _run(api, url, tmp_path, "--mode", "shell").returncode == 0
    assert b"not understood" in api.bodies[1]


def test_shell_cuts_long_output(api: Api, url: str, tmp_path: Path) -> None:
    """The model sees the end of a long output only."""
    api.turns = [{"command": "yes | head -c 100000; echo the end"}, "Seen."]
    assert _run(api, url, tmp_path, "--mode", "shell").returncode == 0
    assert b"the end" in api.bodies[1]
    assert len(api.bodies[1]) < 20_000


def test_shell_stops_when_out_of_turns(api: Api, url: str, tmp_path: Path) -> None:
    """A model that never comes to an end is stopped, with an exit code of its own."""
    api.turns = [{"command": "true"}] * 3
    result = _run(api, url, tmp_path, "--mode", "shell", "--max-turns", "2")
    assert (result.returncode, result.stderr) == (3, "out of turns: 2\n")
    assert len(api.bodies) == 2


def test_two_runs_send_the_same_bytes(api: Api, url: str, tmp_path: Path) -> None:
    """Nothing of the place or the time of a run goes into its requests."""
    for name in ("one", "another"):
        api.turns = [{"command": COMMAND}, "Fixed."]
        _run(api, url, tmp_path / name, "--mode", "shell")
        api.turns = [FENCED]
        _run(api, url, tmp_path / name / "again", "--mode", "rewrite")
    assert len(api.bodies) == 6
    assert api.bodies[:3] == api.bodies[3:]


@pytest.mark.parametrize("mode", ["rewrite", "shell"])
def test_an_error_of_the_api_is_not_retried(api: Api, url: str, tmp_path: Path, mode: str) -> None:
    """The error goes to stderr as it came, after one attempt."""
    api.status = 400
    result = _run(api, url, tmp_path, "--mode", mode)
    assert result.returncode == 1
    assert json.loads(result.stderr)["error"]["message"] == "no such recording"
    assert len(api.bodies) == 1


def test_a_stream_that_breaks_off_is_an_error(api: Api, url: str, tmp_path: Path) -> None:
    """Half an answer is never taken for a whole one."""
    api.turns, api.cut = [FENCED], True
    result = _run(api, url, tmp_path, "--mode", "rewrite")
    if api.stream:
        assert (result.returncode, result.stderr) == (1, "the stream broke off\n")
        assert (tmp_path / "workspace" / "sums.py").read_text() == BUGGY
    else:
        assert result.returncode == 0

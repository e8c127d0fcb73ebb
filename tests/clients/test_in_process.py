"""Bedrock by boto3 and OpenAI's library inside a process: recorded, replayed, refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evalgate.gateway.cassette import load_cassette
from tests.clients.conftest import CACHE, installed
from tests.serving import serving

AGENT = Path(__file__).with_name("in_process_agent.py")
THREADS = AGENT.with_name("in_process_threads.py")


class Provider(BaseHTTPRequestHandler):
    """A scripted provider of three APIs: it says how often it was asked."""

    asked = 0
    lock = threading.Lock()

    def do_POST(self) -> None:
        """Answer a Converse request or one for a message, or stream a completion."""
        self.rfile.read(int(self.headers["content-length"]))
        with Provider.lock:
            Provider.asked += 1
            said, kind = f"answer {Provider.asked}", "application/json"
        if "/converse" in self.path:
            message = {"role": "assistant", "content": [{"text": said}]}
            usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
            answer = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
            data = json.dumps({**answer, "metrics": {"latencyMs": 1}}).encode()
        elif self.path == "/v1/messages":
            answer = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
            usage = {"input_tokens": 1, "output_tokens": 1}
            content = [{"type": "text", "text": said}]
            data = json.dumps({**answer, "content": content, "usage": usage}).encode()
        else:
            pieces = [{"choices": [{"index": 0, "delta": {"content": one}}]} for one in said]
            data = b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in pieces)
            data, kind = data + b"data: [DONE]\n\n", "text/event-stream"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    request_queue_size = 128


@pytest.fixture
def provider():
    """Serve the provider on loopback."""
    installed("venv/bin/python")
    Provider.asked = 0
    server = Server(("127.0.0.1", 0), Provider)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}"


def ask(
    mode: str, cassette: Path, url: str, *texts: str, agent: Path = AGENT
) -> subprocess.CompletedProcess[str]:
    """Run the agent in an interpreter that has both evalgate and the libraries."""
    (libraries,) = (CACHE / "venv" / "lib").glob("python3*/site-packages")
    argv = [sys.executable, "-W", "ignore", agent, mode, cassette, url, *texts]
    env = {**os.environ, "PYTHONPATH": str(libraries), "AWS_EC2_METADATA_DISABLED": "true"}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120)


def test_agents_without_a_base_url_are_recorded_and_replayed(provider, tmp_path):
    """Streamed and not; signatures, dates and keys are neither matched nor stored."""
    cassette = tmp_path / "a folder é" / "1.json"
    first = ask("record", cassette, provider, "one", "two")
    assert first.returncode == 0, first.stderr
    assert first.stdout.split("\n")[:4] == ["answer 1", "answer 2", "answer 3", "answer 4"]
    again = ask("replay", cassette, provider, "one", "two")
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert Provider.asked == 4
    data = cassette.read_bytes()
    tape = load_cassette(data, name="it")
    assert [one.dialect for one in tape.exchanges] == ["passthrough", "openai-chat"] * 2
    for word in (b"AKIA", b"wJalr", b"AWS4-HMAC", b"sk-of-the", b"X-Amz"):
        assert word not in data


def test_an_agent_that_asks_something_else_is_refused_in_its_own_process(provider, tmp_path):
    """Nothing goes out, and what differs is named."""
    cassette = tmp_path / "1.json"
    assert ask("record", cassette, provider, "one").returncode == 0
    other = ask("replay", cassette, provider, "another one")
    assert other.returncode != 0
    assert "evalgate.vcr: nearest is exchange 0" in other.stderr
    assert Provider.asked == 2


def test_threads_and_tasks_are_recorded_whole_and_replayed_without_the_provider(provider, tmp_path):
    """Four libraries in threads, two in tasks, all at once: each gets an answer of its own."""
    cassette = tmp_path / "1.json"
    first = ask("record", cassette, provider, agent=THREADS)
    assert first.returncode == 0, first.stderr
    answers = first.stdout.split("\n")[:-1]
    assert len(answers) == Provider.asked == 36
    assert len(load_cassette(cassette.read_bytes(), name="it").exchanges) == 36
    again = ask("replay", cassette, provider, agent=THREADS)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert Provider.asked == 36

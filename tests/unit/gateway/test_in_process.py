"""Agents that can not be given a base URL: recorded and replayed inside their own process."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiohttp
import pytest

import evalgate.vcr
from evalgate.errors import DivergedError, UsageError
from evalgate.gateway.cassette import load_cassette

KEY = "sk-ant-in-process-0123456789abcdef"
PATH = "/model/claude/converse"


class Bedrock:
    """A scripted provider of an API that evalgate knows nothing of."""

    def __init__(self):
        self.asked = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                provider.asked += 1
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                said = {"n": provider.asked, "echo": body["text"], "key": self.headers["x-api-key"]}
                data = gzip.compress(json.dumps(said).encode())
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-encoding", "gzip")
                self.send_header("set-cookie", "session=1")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def bedrock():
    """Return a running provider."""
    provider = Bedrock()
    yield provider
    provider.close()


def post(url, text):
    """Ask with the standard library."""
    headers = {"content-type": "application/json", "x-api-key": KEY, "x-session": "random"}
    request = urllib.request.Request(url + PATH, json.dumps({"text": text}).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        data = response.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


async def post_async(url, text):
    """Ask with another library."""
    headers = {"x-api-key": KEY}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url + PATH, json={"text": text}, headers=headers) as response,
    ):
        return await response.json()


@pytest.mark.parametrize("ask", [post, lambda *said: asyncio.run(post_async(*said))])
def test_what_was_recorded_is_replayed_without_the_provider(bedrock, tmp_path, ask):
    """In order, each answer once; key, cookie and session nowhere in the file."""
    file = tmp_path / "ein Ordner" / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record", secrets={"PROVIDER": KEY}):
        first = [ask(bedrock.url, text)["n"] for text in ("a", "b", "a")]
    assert first == [1, 2, 3]
    data = file.read_bytes()
    assert not [word for word in (KEY.encode(), b"session", b"random") if word in data]
    assert len(load_cassette(data, name="it").exchanges) == 3
    with evalgate.vcr.use_cassette(file, secrets={"PROVIDER": KEY}):
        again = [ask(bedrock.url, text) for text in ("a", "a", "b")]
    assert [one["n"] for one in again] == [1, 3, 2]
    assert again[0]["key"] == "<secret:PROVIDER>"
    assert bedrock.asked == 3
    assert file.read_bytes() == data


def test_a_miss_never_reaches_the_provider_and_is_explained(bedrock, tmp_path):
    """Also when the client swallows it."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "what is asked")
    with (
        pytest.raises(DivergedError, match="text") as caught,
        evalgate.vcr.use_cassette(file),
        pytest.raises(DivergedError),
    ):
        post(bedrock.url, "what is asked now")
    assert "exchange 0" in caught.value.message
    with pytest.raises(DivergedError, match="already played"):
        ask_twice(bedrock, file)
    assert bedrock.asked == 1


def ask_twice(bedrock, file):
    """Replay a request that was recorded once, twice."""
    with evalgate.vcr.use_cassette(file):
        post(bedrock.url, "what is asked")
        post(bedrock.url, "what is asked")


def break_off(bedrock, file):
    """Begin to record, and fail."""
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "a")
        raise ZeroDivisionError


def test_an_error_while_recording_leaves_no_file(bedrock, tmp_path):
    """Half a recording is none."""
    file = tmp_path / "1.json"
    with pytest.raises(ZeroDivisionError):
        break_off(bedrock, file)
    assert not file.exists()


def test_live_does_nothing(bedrock, tmp_path):
    """One switch for all three."""
    with evalgate.vcr.use_cassette(tmp_path / "1.json", mode="live"):
        assert post(bedrock.url, "a")["key"] == KEY
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path):
    """An unknown mode, a file that is not there, one that is no cassette."""
    (tmp_path / "odd.json").write_text("{}")
    for path, mode in (("x", "onec"), ("missing.json", "replay"), ("odd.json", "replay")):
        with (
            pytest.raises(UsageError) as caught,
            evalgate.vcr.use_cassette(tmp_path / path, mode=mode),
        ):
            pass
        assert caught.value.hint


def test_importing_it_loads_no_engine():
    """VCR.py patches nothing until a context is entered."""
    code = "import sys, evalgate.vcr; print('vcr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"

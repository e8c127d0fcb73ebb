"""The choice among sandboxes, at an engine that answers and can get no image."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import pytest

from evalgate.errors import NotAvailableError
from evalgate.sandboxes.container import Containers, docker
from evalgate.sandboxes.images import Named
from evalgate.sandboxes.table import resolve


class BareEngine(BaseHTTPRequestHandler):
    """An engine without images and without a way to a registry."""

    asked: list[str]

    def do_GET(self) -> None:
        """Say that it is there, and that no image is."""
        if self.path.startswith("/version"):
            self.say(200, b'{"ApiVersion": "1.41"}')
        elif self.path.endswith("/_ping"):
            self.say(200, b"OK")
        else:
            self.say(404, b'{"message": "No such image"}')

    def do_POST(self) -> None:
        """Fail to fetch an image."""
        self.say(500, b'{"message": "no registry answers"}')

    def say(self, status: int, body: bytes) -> None:
        """Answer, and write down what was asked."""
        self.asked.append(self.path)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the engine that the environment names was asked so far."""
    found: list[str] = []
    place = tmp_path / "engine"
    handler = type("Engine", (BareEngine,), {"asked": found})
    with ThreadingUnixStreamServer(os.fspath(place), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
        yield found
        server.shutdown()
        thread.join()


def fetched(asked: list[str]) -> int:
    """Return how often the engine was to fetch an image."""
    return sum("/images/create" in path for path in asked)


def test_to_look_makes_no_image(asked: list[str]) -> None:
    """Whether a sandbox can be used is told without a build, and without any registry."""
    assert docker().unavailable() is None
    assert not [path for path in asked if "/images/" in path or "/build" in path]


def test_auto_passes_over_an_engine_that_gets_no_image(
    asked: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It says so in one line, and does not try again in this process."""
    containers = Containers(image=Named("no-such:1"))
    with caplog.at_level(logging.WARNING):
        first = resolve("auto", containers=containers)
    assert first.name != "docker"
    (said,) = [one.getMessage() for one in caplog.records if "docker" in one.getMessage()]
    assert said.startswith("the sandbox docker is passed over: the image no-such:1 is not there")
    assert "\n" not in said
    assert fetched(asked) == 1
    assert resolve("auto", containers=containers).name == first.name
    assert fetched(asked) == 1


def test_an_engine_that_was_asked_for_must_get_its_image(asked: list[str]) -> None:
    """It is an error with its way out, never another sandbox."""
    with pytest.raises(NotAvailableError, match="no-such:1 is not there") as caught:
        resolve("docker", containers=Containers(image=Named("no-such:1")))
    assert "build it from a Dockerfile" in caught.value.hint
    assert fetched(asked) == 1

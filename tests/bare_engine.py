"""An engine that is there and has next to nothing: Docker's API over a unix socket."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

from tests.serving import serving


class BareEngine:
    """What the engine has, and what it was asked: each a method and a path."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []
        self.images: list[dict[str, Any]] = []
        self.containers: list[dict[str, Any]] = []
        #: Images that it does not let go.
        self.needed: set[str] = set()

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        """Return a status and a document."""
        self.asked.append(f"{method} {path}")
        path = path.partition("?")[0]
        name = path.rpartition("/images/")[2]
        if method == "DELETE":
            gone = name not in self.needed
            return (200, []) if gone else (409, {"message": f"{name} is being used"})
        if method == "POST":
            return 500, {"message": "no registry answers"}
        for end, found in (
            ("/version", {"ApiVersion": "1.41"}),
            ("/_ping", "OK"),
            ("/images/json", self.images),
            ("/containers/json", self.containers),
        ):
            if path.endswith(end):
                return 200, found
        return 404, {"message": "No such image"}


@contextlib.contextmanager
def open_bare_engine(place: Path) -> Iterator[BareEngine]:
    """Serve one at a unix socket."""
    engine = BareEngine(f"unix://{place}")

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            status, document = engine.answer(self.command, self.path)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_DELETE(self) -> None:
            self.answer()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(ThreadingUnixStreamServer(os.fspath(place), Handler)):
        yield engine

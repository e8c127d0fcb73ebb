"""A sandbox that answers once, with whatever a test gives it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def answering(place: Path, line: bytes) -> Iterator[None]:
    """Answer the first request at a unix socket with this line."""
    with socket.socket(socket.AF_UNIX) as desk, ThreadPoolExecutor(1) as pool:
        desk.bind(str(place))
        desk.listen()

        def answer() -> None:
            connection, _ = desk.accept()
            with connection:
                connection.makefile("rb").readline()
                connection.sendall(line)

        answered = pool.submit(answer)
        yield
        answered.result()

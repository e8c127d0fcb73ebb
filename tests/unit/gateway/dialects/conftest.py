"""Answers as they come over the wire, one file each, and streams made of JSON events."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent / "wire"


@pytest.fixture
def wire_body() -> Callable[[str], bytes]:
    """Return the reader of a file of the wire by its name."""

    def read(name: str) -> bytes:
        return (_FOLDER / name).read_bytes()

    return read


@pytest.fixture
def stream() -> Callable[..., bytes]:
    """Return the maker of a stream of JSON events."""

    def make(*events: object) -> bytes:
        return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    return make

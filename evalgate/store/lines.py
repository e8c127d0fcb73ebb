"""Notes of a project's state that only grow: one line of JSON each, on this machine alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalgate.core.json import Json


def append_line(path: Path, value: Mapping[str, Json]) -> None:
    """Add a line to a file, which is made when it is not there; its folder is."""
    with path.open("a", encoding="ascii") as file:
        file.write(json.dumps(value, sort_keys=True) + "\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Return the objects in a file, none where there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    yield from objects_in(data)


def objects_in(data: bytes) -> Iterator[dict[str, Any]]:
    """Return the object of each line; one that was cut off is left out."""
    for line in data.splitlines():
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value

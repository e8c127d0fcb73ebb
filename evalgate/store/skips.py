"""The pushes that were let through unjudged on request: one line of JSON each, on this machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from evalgate.core.identity import FORMAT
from evalgate.core.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """One ref of a push that was not judged: what was to be compared, and the ``reason`` given."""

    date: str
    ref: str
    head: str
    base: str
    reason: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return asdict(self)


def append_skip(state: Path, skip: Skip) -> None:
    """Add one to the project's state folder."""
    line = json.dumps({"format": FORMAT, **skip.to_json()}, ensure_ascii=True, sort_keys=True)
    with _file(state).open("a", encoding="ascii") as file:
        file.write(f"{line}\n")


def load_skips(state: Path) -> tuple[Skip, ...]:
    """Return all of them, oldest first; a line that was cut off is left out."""
    try:
        lines = _file(state).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return ()
    return tuple(skip for line in lines if (skip := _load(line)) is not None)


def _load(line: str) -> Skip | None:
    try:
        value = json.loads(line)
        return Skip(**{name: str(value[name]) for name in Skip.__slots__})
    except (ValueError, LookupError, TypeError):
        return None


def _file(state: Path) -> Path:
    return state / "skips.jsonl"

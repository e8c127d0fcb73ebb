"""The pushes that were let through unjudged on request: one line of JSON each, on this machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from evalgate.core.identity import FORMAT
from evalgate.core.json import Json
from evalgate.store.lines import append_line, read_lines

_NAME: Final = "skips.jsonl"


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
    append_line(state / _NAME, {"format": FORMAT, **skip.to_json()})


def load_skips(state: Path) -> tuple[Skip, ...]:
    """Return all of them, oldest first; a line that was cut off is left out."""
    names = Skip.__slots__
    return tuple(
        Skip(**{name: str(value[name]) for name in names})
        for value in read_lines(state / _NAME)
        if value.keys() >= {*names}
    )

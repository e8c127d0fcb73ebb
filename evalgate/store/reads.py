"""Who read which trial: a line each, in the state of a project."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from evalgate.store.lines import append_line, read_lines

_NAME: Final = "reads.jsonl"


def add_read(state: Path, trial: str, who: str) -> None:
    """Keep that somebody read a trial, named as `evalgate.core.reading.trial_name` does."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    append_line(state / _NAME, {"trial": trial, "who": who, "date": date})


def load_reads(state: Path) -> dict[str, tuple[str, ...]]:
    """Return who read each trial, in the order of their reading; lines that are none are left."""
    found: dict[str, tuple[str, ...]] = {}
    for value in read_lines(state / _NAME):
        if value.keys() >= {"trial", "who"}:
            trial = str(value["trial"])
            found[trial] = (*found.get(trial, ()), str(value["who"]))
    return found

"""Who read which trial: a line each, in the state of a project."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_NAME: Final = "reads.jsonl"


def add_read(state: Path, trial: str, who: str) -> None:
    """Keep that somebody read a trial, named as `evalgate.core.reading.trial_name` does."""
    line = {"trial": trial, "who": who, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    with (state / _NAME).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def load_reads(state: Path) -> dict[str, tuple[str, ...]]:
    """Return who read each trial, in the order of their reading; lines that are none are left."""
    try:
        lines = (state / _NAME).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        try:
            value = json.loads(line)
            trial, who = str(value["trial"]), str(value["who"])
        except (ValueError, LookupError, TypeError):
            continue
        found[trial] = (*found.get(trial, ()), who)
    return found

"""What a benchmark promises, and how it says what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One promise: ``found`` must be at most ``limit``, or at least it with ``at_least``."""

    name: str
    found: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """Whether the promise is kept."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    def __str__(self) -> str:
        """Say it in a line."""
        mark = "ok    " if self.ok else "MISSED"
        bound = "at least" if self.at_least else "at most"
        unit = f" {self.unit}" if self.unit else ""
        return f"{mark} {self.name}: {self.found:.4g}{unit}, {bound} {self.limit:.4g}{unit}"


class MissingError(Exception):
    """A peer or an engine that the benchmark compares with is not there: its name and the cure."""


def finish(
    name: str,
    goals: Sequence[Goal],
    *,
    quick: bool,
    figures: Mapping[str, Any],
) -> int:
    """Print the goals and the line of JSON that ends a benchmark; return its exit status."""
    for goal in goals:
        print(goal)
    ok = all(goal.ok for goal in goals)
    document = {
        "benchmark": name,
        "quick": quick,
        "figures": figures,
        "goals": [{**asdict(goal), "ok": goal.ok} for goal in goals],
        "ok": ok,
    }
    print(json.dumps(document))
    return 0 if ok else 1


def refuse(name: str, missing: MissingError, *, quick: bool) -> int:
    """Say that nothing could be compared; return the exit status for that."""
    print(f"not measured: {missing}")
    document = {"benchmark": name, "quick": quick, "missing": str(missing), "ok": False}
    print(json.dumps(document))
    return 2

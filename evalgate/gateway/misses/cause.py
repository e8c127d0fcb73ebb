"""Which part of a harness made a request another one: by the words that both have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from evalgate.core.exchange import Miss

#: Shorter lines stand in every file.
_SHORTEST: Final = 12

#: A line that only one of the two texts has says more than one that both have.
_CHANGED: Final = 8


def blame(
    miss: Miss,
    *,
    then: Mapping[str, str],
    now: Mapping[str, str],
    sources: Mapping[str, Sequence[bytes]],
) -> Miss:
    """Return the miss with the part of the harness that caused it, and a sentence on that.

    ``then`` and ``now`` are the digests of the parts of the recorded harness and of this one,
    ``sources`` the files of each part as they are now.
    """
    changed = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
    if not changed:
        where = "the harness is the same: the agent or its surroundings behaved differently"
        return replace(miss, cause=f"{where}{': ' if miss.kind else ''}{miss.kind}")
    told = {name: sources.get(name, ()) for name in changed}
    part = cause_of(miss.recorded, miss.now, told)
    if part:
        return replace(miss, part=part, cause=f"the part {part!r} of the harness changed")
    names = ", ".join(map(repr, changed))
    return replace(miss, cause=f"of the harness changed: {names}")


def cause_of(recorded: str, now: str, parts: Mapping[str, Sequence[bytes]]) -> str:
    """Return the part whose files have most in common with the text that differs.

    ``recorded`` and ``now`` are the two values of the first leaf that differs. Empty when no
    part has a line of it, or two have as much; the only part there is, is the one.
    """
    if len(parts) == 1:
        return next(iter(parts))
    lines = {line for line in map(str.strip, now.splitlines()) if len(line) >= _SHORTEST}
    before = set(map(str.strip, recorded.splitlines()))
    weights = {line: len(line) * (1 if line in before else _CHANGED) for line in lines}
    scores = {name: _score(weights, b"\n".join(files)) for name, files in parts.items()}
    best = max(scores.values(), default=0)
    named = [name for name, score in scores.items() if score == best]
    return named[0] if best and len(named) == 1 else ""


def _score(weights: Mapping[str, int], text: bytes) -> int:
    """Add up the lines that stand in the files, as they are or as strings of JSON."""
    return sum(
        weight
        for line, weight in weights.items()
        if line.encode("utf-8", "replace") in text or json.dumps(line)[1:-1].encode() in text
    )

"""A spot check: a few recorded trials made anew, to see whether the recorded rates are true."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from evalgate.core.counts import TaskCounts
from evalgate.core.statistics import suite_p_value

#: So many trials at least, or so large a share of what was recorded.
_LEAST, _SHARE = 6, 10
_ALPHA = 0.05


def drawn(recorded: Mapping[str, int], *, seed: str) -> dict[str, int]:
    """Return how many trials of which tasks are made anew, drawn by ``seed``.

    ``recorded`` maps a task to its recorded trials. Six trials, or a tenth of all; as many tasks
    as possible, each as often as any other. Who knows the seed before the recording is made has
    recorded what is checked: it is the commit that holds the recording.
    """
    names = sorted(name for name, runs in recorded.items() if runs)
    random.Random(seed).shuffle(names)  # noqa: S311 - the same for everybody who checks
    wanted = max(_LEAST, -(-sum(recorded.values()) // _SHARE))
    counts: dict[str, int] = {}
    while names and sum(counts.values()) < wanted:
        for name in names[: wanted - sum(counts.values())]:
            counts[name] = counts.get(name, 0) + 1
    return counts


def flatters(recorded_and_fresh: Sequence[TaskCounts]) -> float | None:
    """Return the p of a recorded rate this much above the fresh one; None when it is believed.

    Each entry holds the recorded runs as its base and the fresh ones as its head. By the suite's
    mid-p, at 0.05.
    """
    p = suite_p_value(recorded_and_fresh, tail="lower")
    return p if p <= _ALPHA else None

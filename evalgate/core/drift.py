"""Slow creep: sessions of an unchanged harness held against an anchor window.

A rolling window drifts along with what it should see; an anchor, the first sessions
under the conditions of today, does not. One session is a day of a suite with nothing changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: Weight of the newest session (Roberts 1959), and what the average must reach in anchor
#: deviations: by simulation, with an anchor of 8, at most 5 % of years of weekly sessions in
#: which nothing moves give an alarm (`benchmarks.verdict_simulation`).
_WEIGHT: Final = 0.2
LIMIT: Final = 1.6
#: Sessions of the anchor: fewer do not tell its deviation.
ANCHOR: Final = 8
_LEAST: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Creep:
    """How far the sessions after the anchor have moved from it, in its standard deviations."""

    average: float
    alarm: bool
    sessions: int


def creep_of(
    sessions: Sequence[float], *, anchor: int = ANCHOR, least: float = _LEAST
) -> Creep | None:
    """Return the exponentially weighted moving average of sessions against their anchor.

    Each session is one number, such as the mean over tasks of a signal's logarithm; larger is
    worse. The first ``anchor`` of them are the anchor window. None while there is no session
    after it. A deviation is taken as ``least`` at least, so that a signal that never moved gives no
    alarm at its first step: a lasting move of less than `LIMIT` times ``least`` gives none.

    Raises:
        ValueError: an anchor of fewer than two sessions.
    """
    if anchor < 2:  # noqa: PLR2004 - a deviation takes two
        message = f"an anchor of {anchor} sessions has no deviation"
        raise ValueError(message)
    window, later = sessions[:anchor], sessions[anchor:]
    if not later:
        return None
    mean = math.fsum(window) / anchor
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in window) / (anchor - 1))
    average = 0.0
    for value in later:
        average += _WEIGHT * ((value - mean) / max(deviation, least) - average)
    return Creep(average=average, alarm=average >= LIMIT, sessions=len(later))

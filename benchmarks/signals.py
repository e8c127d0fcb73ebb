"""Simulated soft signals and scheduled sessions, through the functions that judge them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from evalgate.core.drift import ANCHOR, creep_of
from evalgate.core.soft import Arms, Shift, flagged, shift_of
from evalgate.core.trend import LEAST_RATIO

_TASKS, _RUNS = 12, 5
#: Signals of one trial go together, such as tokens, cost, time and turns; others go their own way.
_TOGETHER, _APART = ("cost", "seconds", "tokens", "turns"), ("diff", "files")
_TAIL = 0.05
_WEEKS, _HALF_YEAR = 52, 26
_SESSION_TASKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Shares of comparisons with any warning, and with the right one; of years with an alarm."""

    warned: float
    found_120: float
    found_130: float
    year_alarmed: float
    creep_found: float


def simulate_signals(comparisons: int, years: int) -> Signals:
    """Simulate both; the same numbers every time."""
    rng = random.Random("signals")
    return Signals(
        warned=sum("up" in _flags(rng, 1.0).values() for _ in range(comparisons)) / comparisons,
        found_120=sum(_found(rng, 1.2) for _ in range(comparisons)) / comparisons,
        found_130=sum(_found(rng, 1.3) for _ in range(comparisons)) / comparisons,
        year_alarmed=sum(_alarmed(rng, _WEEKS, 0.0) for _ in range(years)) / years,
        creep_found=sum(_alarmed(rng, _HALF_YEAR, math.log(1.01)) for _ in range(years)) / years,
    )


def _found(rng: random.Random, factor: float) -> bool:
    return _flags(rng, factor).get("cost") == "up"


def _flags(rng: random.Random, factor: float) -> dict[str, str]:
    """Return what is flagged of one comparison in which the cost alone is multiplied."""
    arms: dict[str, list[Arms]] = {name: [] for name in (*_TOGETHER, *_APART)}
    for _ in range(_TASKS):
        level = math.exp(rng.gauss(8, 1))
        base, head = ([rng.gauss(0, 0.2) for _ in range(_RUNS)] for _ in range(2))
        for name, found in arms.items():
            shared = name in _TOGETHER
            times = factor if name == "cost" else 1.0
            found.append(
                Arms(
                    base=tuple(_value(rng, level, one if shared else 0.0) for one in base),
                    head=tuple(_value(rng, level * times, one if shared else 0.0) for one in head),
                )
            )
    shifts: dict[str, Shift] = {}
    for name, found in arms.items():
        shift = shift_of(found)
        if shift is not None:
            shifts[name] = shift
    return flagged(shifts)


def _value(rng: random.Random, level: float, own: float) -> float:
    """Draw a value with a heavy tail: one run in twenty is far off."""
    noise = rng.gauss(0, 0.2) * (4 if rng.random() < _TAIL else 1)
    return level * math.exp(own + noise)


def _alarmed(rng: random.Random, sessions: int, growth: float) -> bool:
    """Tell whether weekly sessions of twenty tasks, each run once, ever give an alarm."""
    deviation = 0.4 / math.sqrt(_SESSION_TASKS)
    seen = [
        rng.gauss(0, deviation) + growth * max(0, number - ANCHOR + 1)
        for number in range(ANCHOR + sessions)
    ]
    ends = range(ANCHOR + 1, len(seen) + 1)
    return any(
        creep is not None and creep.alarm
        for creep in (creep_of(seen[:end], least=LEAST_RATIO) for end in ends)
    )

"""Where the numbers of an unchanged harness go: each signal, held against its anchor window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from evalgate.core.drift import ANCHOR, LIMIT, Creep, creep_of
from evalgate.core.json import Json
from evalgate.core.sample import Sample
from evalgate.core.session import Session, pass_rate_of
from evalgate.core.signal_change import SIGNALS, values_of
from evalgate.core.soft import median

PASS_RATE: Final = "pass_rate"  # noqa: S105 - a signal, not a password

#: A lasting move of less than a tenth is nobody's business, nor one of half a count.
LEAST_RATIO: Final = math.log(1.1) / LIMIT
_LEAST_COUNT: Final = 0.5 / LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The newest sessions that are shown beside the anchor: the last ``days``, or a number."""

    days: int | None = None
    sessions: int | None = None

    def of(self, sessions: Sequence[Session], *, today: date) -> tuple[Session, ...]:
        """Return the sessions after the anchor that lie in this window."""
        later = tuple(sessions[ANCHOR:])
        if self.days is not None:
            first = today - timedelta(days=self.days - 1)
            later = tuple(one for one in later if one.day >= first)
        return later if self.sessions is None else later[-self.sessions :]

    @property
    def words(self) -> str:
        """What it is called."""
        if self.days is not None:
            return f"the last {self.days} days"
        return f"the last {self.sessions} sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One signal: its level in the anchor and in the window, and how far it has crept.

    Levels are shares for the pass rate; for the others a typical trial's value, each task
    weighing the same. ``window`` is None where no session lies in it, ``creep`` where none
    follows the anchor.
    """

    name: str
    anchor: float
    window: float | None
    creep: Creep | None

    @property
    def words(self) -> str:
        """What the signal is called."""
        return "pass rate" if self.name == PASS_RATE else SIGNALS[self.name].words

    @property
    def alarm(self) -> bool:
        """Tell whether it creeps."""
        return self.creep is not None and self.creep.alarm

    @property
    def change(self) -> str:
        """How the window differs from the anchor, for a person."""
        if self.window is None:
            return "–"
        if self.name == PASS_RATE:
            return f"{100 * (self.window - self.anchor) + 0.0:+.1f} points"
        if SIGNALS[self.name].is_ratio:
            return f"{100 * (self.window / self.anchor - 1) + 0.0:+.1f} %"
        return f"{self.window - self.anchor + 0.0:+.2f} a trial"

    def shown(self, level: float | None) -> str:
        """Write a level of this signal."""
        if level is None:
            return "–"
        return f"{100 * level:.1f} %" if self.name == PASS_RATE else self._form.format(level)

    @property
    def _form(self) -> str:
        return SIGNALS[self.name].form

    @property
    def sentence(self) -> str:
        """Say what creeps, for a person."""
        way = "down" if self.name == PASS_RATE else "up"
        since = f"{self.shown(self.anchor)} in the first {ANCHOR} sessions"
        now = "" if self.window is None else f", {self.shown(self.window)} now ({self.change})"
        return f"{self.words} went {way}: {since}{now}"

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "anchor": self.anchor,
            "window": self.window,
            "average": None if self.creep is None else self.creep.average,
            "alarm": self.alarm,
        }


def trends_of(sessions: Sequence[Session], window: Sequence[Session]) -> tuple[Trend, ...]:
    """Return the trend of the pass rate, and of each signal that every session knows.

    Nothing is returned for fewer sessions than an anchor takes.
    """
    if len(sessions) < ANCHOR:
        return ()
    trends = []
    for name in (PASS_RATE, *SIGNALS):
        values = [worse_by(one.sample, name) for one in sessions]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            continue
        recent = [worse_by(one.sample, name) for one in window]
        shown = [value for value in recent if value is not None]
        trends.append(
            Trend(
                name=name,
                anchor=_level(name, known[:ANCHOR]),
                window=_level(name, shown) if shown else None,
                creep=creep_of(known, least=_least(name, sessions[:ANCHOR])),
            )
        )
    return tuple(trends)


def worse_by(sample: Sample, name: str) -> float | None:
    """Return one signal of a session as the number that creeps upwards when it gets worse.

    The mean over tasks: of the logarithm of the median of their trials, for a count that is
    mostly 0 of their mean, and of their pass rate with its sign turned. None where a trial of it
    is unknown.
    """
    if name == PASS_RATE:
        rate = pass_rate_of(sample)
        return None if rate is None else -rate
    each = [values_of(task, name) for task in sample.tasks.values()]
    if not each or not all(each):
        return None
    if SIGNALS[name].is_ratio:
        return math.fsum(math.log(max(median(one), 1.0)) for one in each) / len(each)
    return math.fsum(math.fsum(one) / len(one) for one in each) / len(each)


def _level(name: str, values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    if name == PASS_RATE:
        return -mean + 0.0
    return SIGNALS[name].unit * (math.exp(mean) if SIGNALS[name].is_ratio else mean)


def _least(name: str, anchor: Sequence[Session]) -> float:
    if name == PASS_RATE:  # one trial of a session that turns out otherwise
        return 1 / min(session.sample.measured for session in anchor)
    return LEAST_RATIO if SIGNALS[name].is_ratio else _LEAST_COUNT

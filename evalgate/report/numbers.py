"""The numbers of both sides of a verdict, a row each, the six that matter most before the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.core.change import COMPARABLE
from evalgate.core.outcome_cost import OutcomeCost
from evalgate.core.rates import mean_percent, points
from evalgate.core.sample import Sample
from evalgate.core.signal_change import SIGNALS, SignalChange, level_of
from evalgate.core.verdict import Verdict

UNKNOWN = "unknown"
#: Said of a change where both sides are known and no verdict compares them.
APART = "not compared"

#: So many rows are shown on top.
MOST = 6

#: The signals that stand on top unless others moved, the first before all others.
_FIRST = ("cost_usd", "output_tokens", "seconds", "turns")

#: What stands before a signal that moved.
_FLAGS = {"up": "⚠ ", "down": "✓ ", "": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRow:
    """One number of both sides, and how it changed; unknown is said, and never 0."""

    name: str
    base: str
    head: str
    change: str = ""


def first_numbers(verdict: Verdict) -> list[NumberRow]:
    """Return at most six rows: pass rate and cost first, then what moved, then the usual ones."""
    if verdict.base is None or verdict.head is None or not verdict.head.rows:
        return []
    flags = {change.name: change.flag for change in verdict.signals}
    moved = [name for name in SIGNALS if flags.get(name)]
    usual = [name for name in _FIRST if not flags.get(name)]
    cost = [name for name in (*moved, *usual) if name == "cost_usd"]
    others = [name for name in (*moved, *usual) if name != "cost_usd"]
    rows = [*_pass_rate(verdict), *_outcome_cost(verdict), *signal_rows(verdict, cost)]
    return (rows + signal_rows(verdict, others))[:MOST]


def signal_rows(verdict: Verdict, names: Sequence[str] = tuple(SIGNALS)) -> list[NumberRow]:
    """Return a row for each of some signals that a side knows; what is free on both has no cost."""
    base, head = verdict.base, verdict.head
    if base is None or head is None or not head.rows:
        return []
    changes = {change.name: change for change in verdict.signals}
    rows = (_signal(name, base, head, changes.get(name)) for name in names)
    return [row for row in rows if row is not None]


def _signal(name: str, base: Sample, head: Sample, change: SignalChange | None) -> NumberRow | None:
    signal = SIGNALS[name]
    if change is None:
        levels = level_of(base, name), level_of(head, name)
    else:
        levels = change.base, change.head
    if levels == (None, None) or (name == "cost_usd" and levels == (0.0, 0.0)):
        return None  # nobody knows it, or both are free
    shown = [_shown(signal.form, one) for one in levels]
    flag = "" if change is None else change.flag
    told = APART if change is None else _moved(change, same=shown[0] == shown[1])
    if UNKNOWN in shown:
        told = UNKNOWN
    words = f"{_FLAGS[flag]}{signal.words} a trial"
    return NumberRow(name=words, base=shown[0], head=shown[1], change=told)


def _shown(form: str, value: float | None) -> str:
    """Return a value as it is written; what is not 0 is not written as 0."""
    if value is None:
        return UNKNOWN
    text = form.format(value)
    if value > 0 and not set("123456789") & set(text):
        return f"under {text[:-1]}1"
    return text


def _moved(change: SignalChange, *, same: bool) -> str:
    """Say by how much a signal moved, and whether that is more than noise."""
    if same and not change.flag:
        return "same"
    shift = change.shift
    told = percent_change(shift.point) if shift.is_ratio else f"{shift.point + 0.0:+.1f}"
    if shift.is_ratio and not change.flag and told == "+0 %":
        return "within noise"
    if shift.is_ratio and change.base and percent_change(change.head / change.base) != told:
        told += " in a typical task"  # the two means beside it make another ratio
    if change.low is not None and change.high is not None:
        ends = percent_change(change.low), percent_change(change.high)
        told += f" (90 % interval {ends[0]} to {ends[1]})"
    return told if change.flag else f"{told}, within noise"


def chance(p: float) -> str:
    """Return a probability; one that is not 0 is not written as 0."""
    return _shown("{:.3f}", p)


def percent_change(ratio: float) -> str:
    """Return a ratio of head to base as a change in percent."""
    return f"{round(100 * (ratio - 1)) + 0:+d} %"


def _pass_rate(verdict: Verdict) -> list[NumberRow]:
    told = APART if verdict.difference is None else points(verdict.difference)
    sides = _rate(verdict, "base"), _rate(verdict, "head")
    return [NumberRow(name="pass rate", base=sides[0], head=sides[1], change=told)]


def _rate(verdict: Verdict, side: str) -> str:
    """Count what the sentence counts: the tasks that can be compared."""
    samples = [getattr(change, side) for change in verdict.of(*COMPARABLE)]
    measured = sum(len(sample.measured) for sample in samples)
    passed = sum(sample.passed for sample in samples)
    mean = mean_percent((sample.passed, len(sample.measured)) for sample in samples)
    return f"{mean} ({passed}/{measured})" if measured else mean


def _outcome_cost(verdict: Verdict) -> list[NumberRow]:
    base, head = verdict.outcome_costs
    if base is None and head is None:
        return []
    return [
        NumberRow(
            name="cost of a correct outcome",
            base=UNKNOWN if base is None else base.sentence,
            head=UNKNOWN if head is None else head.sentence,
            change=APART if verdict.difference is None else _dearer(base, head),
        )
    ]


def _dearer(base: OutcomeCost | None, head: OutcomeCost | None) -> str:
    if base is None or head is None:
        return UNKNOWN
    if math.isinf(base.point) or math.isinf(head.point):
        return ""
    return percent_change(head.point / base.point)

"""How the soft signals of a harness moved between base and head: shown, warned of, budgeted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evalgate.core.json import Json
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.soft import Arms, Shift, flagged, median, shift_interval, shift_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One soft number: its words, how it is written, and how it is compared.

    ``unit`` is the least of it that is worth a thought: values are compared as multiples of it.
    Counts that are mostly 0 are compared as differences.
    """

    words: str
    form: str
    unit: float = 1.0
    is_ratio: bool = True


#: By the name that it has in a trial's signals.
SIGNALS: Final[Mapping[str, Signal]] = {
    "input_tokens": Signal(words="input tokens", form="{:.0f}"),
    "output_tokens": Signal(words="output tokens", form="{:.0f}"),
    "cost_usd": Signal(words="cost", form="${:.4f}", unit=1e-6),
    "seconds": Signal(words="seconds", form="{:.1f}", unit=1e-3),
    "turns": Signal(words="turns", form="{:.0f}"),
    "tool_calls": Signal(words="tool calls", form="{:.0f}"),
    "failed_tool_calls": Signal(words="failed tool calls", form="{:.1f}", is_ratio=False),
    "diff_lines": Signal(words="diff lines", form="{:.0f}"),
    "files_touched": Signal(words="files touched", form="{:.0f}"),
    "files_outside": Signal(words="files outside the expected", form="{:.1f}", is_ratio=False),
    "repeated_calls": Signal(words="repeated calls", form="{:.1f}", is_ratio=False),
    "confirmations_asked": Signal(words="confirmations asked for", form="{:.1f}", is_ratio=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalChange:
    """One signal on both sides: means over tasks of their medians, the shift, and the warning.

    ``flag`` is ``up``, ``down`` or empty; ``low`` and ``high`` are the shift's 90 % interval
    where it was asked for.
    """

    name: str
    base: float
    head: float
    shift: Shift
    flag: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """What it is called."""
        return SIGNALS[self.name].words

    @property
    def sentence(self) -> str:
        """Say how it moved, for a person."""
        form = SIGNALS[self.name].form
        values = f"{form.format(self.base)} → {form.format(self.head)} a trial"
        if not self.shift.is_ratio:
            return f"{self.words}: {values}"
        change = 100 * (self.shift.point - 1)
        interval = ""
        if self.low is not None and self.high is not None:
            low, high = 100 * (self.low - 1), 100 * (self.high - 1)
            interval = f", 90 % interval {low:+.0f} % to {high:+.0f} %"
        return f"{self.words}: {values} ({change:+.0f} %{interval})"

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        return {
            "base": self.base,
            "head": self.head,
            "ratio" if self.shift.is_ratio else "difference": self.shift.point,
            "p_up": self.shift.p_up,
            "p_down": self.shift.p_down,
            "low": self.low,
            "high": self.high,
            "flag": self.flag,
        }


def signal_changes(
    base: Sample, head: Sample, tasks: Sequence[str], *, asked: Sequence[str] = ()
) -> tuple[SignalChange, ...]:
    """Compare every signal that both sides know of some of these tasks, in the table's order.

    The interval is worked out for signals that moved, and for those ``asked`` for.
    """
    arms = {name: _arms(name, base, head, tasks) for name in SIGNALS}
    shifts: dict[str, Shift] = {}
    for name, found in arms.items():
        shift = shift_of(found, is_ratio=SIGNALS[name].is_ratio)
        if shift is not None:
            shifts[name] = shift
    flags = flagged(shifts)
    changes = []
    for name, shift in shifts.items():
        low, high = None, None
        if name in flags or name in asked:
            low, high = shift_interval(arms[name], is_ratio=shift.is_ratio)
        unit = SIGNALS[name].unit
        both = [one for one in arms[name] if one.base and one.head]
        changes.append(
            SignalChange(
                name=name,
                base=unit * sum(median(one.base) for one in both) / len(both),
                head=unit * sum(median(one.head) for one in both) / len(both),
                shift=shift,
                flag=flags.get(name, ""),
                low=low,
                high=high,
            )
        )
    return tuple(changes)


def over_budget(changes: Sequence[SignalChange], budgets: Mapping[str, float]) -> tuple[str, ...]:
    """Return the signals that surely rose beyond their budget, a sentence each.

    A budget is a ratio of head to base, such as 1.25; it is broken when the whole interval lies
    above it.
    """
    return tuple(
        f"{change.sentence}: more than {100 * (budgets[change.name] - 1):+g} % is not allowed"
        for change in changes
        if change.name in budgets and change.low is not None and change.low > budgets[change.name]
    )


def unknown_budgets(
    base: Sample, head: Sample, tasks: Sequence[str], budgets: Mapping[str, float]
) -> tuple[str, ...]:
    """Say which budgets can not be reckoned, since trials of the head lack what the base's tell."""
    found = []
    for name, ratio in budgets.items():
        lacking = [
            task
            for task in tasks
            if values_of(base.tasks.get(task), name) and not values_of(head.tasks.get(task), name)
        ]
        if lacking:
            found.append(
                f"{SIGNALS[name].words} has a budget of {100 * (ratio - 1):+g} %, and trials of the"
                f" head do not tell it: {', '.join(lacking)}"
            )
    return tuple(found)


def level_of(sample: Sample, name: str) -> float | None:
    """Return the mean over tasks of the medians of one signal; None where one is unknown."""
    each = [values_of(task, name) for task in sample.tasks.values() if task.measured]
    if not each or not all(each):
        return None
    return SIGNALS[name].unit * sum(map(median, each)) / len(each)


def _arms(name: str, base: Sample, head: Sample, tasks: Sequence[str]) -> list[Arms]:
    return [
        Arms(base=values_of(base.tasks.get(task), name), head=values_of(head.tasks.get(task), name))
        for task in tasks
    ]


def values_of(sample: TaskSample | None, name: str) -> tuple[float, ...]:
    """Return a signal of all measured trials, in multiples of its unit.

    None at all where one of them is unknown.
    """
    rows = () if sample is None else sample.measured
    values: list[Any] = [getattr(row.signals, name) for row in rows]
    if any(value is None for value in values):
        return ()
    return tuple(value / SIGNALS[name].unit for value in values)

"""What became of one task between base and head."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from evalgate.core.json import Json
from evalgate.core.sample import Sample, TaskSample


class Change(StrEnum):
    """What became of one task, in the order in which it is shown."""

    REGRESSED = "regressed"
    FELL = "fell"
    FIRST_PASS = "passes for the first time"  # noqa: S105 - a word, not a password
    ROSE = "rose"
    SAME = "same"
    QUARANTINED = "in quarantine"
    NOT_MEASURED = "not measured"
    INCOMPARABLE = "incomparable"
    NEW = "new"
    GONE = "gone"


#: What becomes of a task that both sides measured in the same form: these are compared.
COMPARABLE: Final = (
    Change.REGRESSED,
    Change.FELL,
    Change.FIRST_PASS,
    Change.ROSE,
    Change.SAME,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """How often a check passed on each side, of how many times it was examined."""

    name: str
    base: tuple[int, int]
    head: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """One task on both sides; ``p`` is its step-down min-P, None where it can not be had."""

    task: str
    change: Change
    base: TaskSample | None
    head: TaskSample | None
    p: float | None = None
    checks: tuple[CheckChange, ...] = ()
    why: str = ""

    @property
    def moved(self) -> bool:
        """Tell whether a reader of the verdict has to see this task."""
        return self.change is not Change.SAME


def change_of(name: str, base: Sample, head: Sample) -> TaskChange:
    """Compare one task, before anything is known of how likely the difference is."""
    old, new = base.tasks.get(name), head.tasks.get(name)
    if old is None:
        return TaskChange(task=name, change=Change.NEW, base=None, head=new)
    if new is None:
        return TaskChange(task=name, change=Change.GONE, base=old, head=None)
    if old.digest != new.digest:
        why = "the task itself changed"
        return TaskChange(task=name, change=Change.INCOMPARABLE, base=old, head=new, why=why)
    kind = _movement(old, new)
    return TaskChange(task=name, change=kind, base=old, head=new, checks=tuple(_checks(old, new)))


def _movement(old: TaskSample, new: TaskSample) -> Change:
    if not old.measured or not new.measured:
        return Change.NOT_MEASURED
    before, after = old.passed * len(new.measured), new.passed * len(old.measured)
    if after < before:
        return Change.FELL
    if after > before:
        return Change.ROSE if old.passed else Change.FIRST_PASS
    return Change.SAME


def _checks(old: TaskSample, new: TaskSample) -> list[CheckChange]:
    names = dict.fromkeys((*old.check_names, *new.check_names))
    found = [
        CheckChange(name=name, base=old.check_passes(name), head=new.check_passes(name))
        for name in names
    ]
    return [one for one in found if one.base[0] * one.head[1] != one.head[0] * one.base[1]]


def to_json(change: TaskChange) -> dict[str, Any]:
    """Return the form in ``verdict.json``."""

    def side(sample: TaskSample | None) -> dict[str, Json] | None:
        if sample is None:
            return None
        return {
            "passed": sample.passed,
            "measured": len(sample.measured),
            "errored": len(sample.rows) - len(sample.measured),
        }

    return {
        "task": change.task,
        "change": str(change.change),
        "base": side(change.base),
        "head": side(change.head),
        "p": change.p,
        "checks": [
            {"name": check.name, "base": list(check.base), "head": list(check.head)}
            for check in change.checks
        ],
        "why": change.why,
    }

"""A waiver: a known regression that is accepted for a while, by name, size and reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from evalgate.core.decision import Decision
from evalgate.core.identity import FORMAT, digest
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.core.verdict import ABSOLUTE, SUITE, Verdict

#: From so many days before its last one it is said that a waiver runs out.
SOON_DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """What is accepted between two harnesses: a drop of one task, or of the suite.

    ``task`` is empty for the suite. ``max_drop`` is a share (0.2 is twenty points); ``until`` is
    the last day it holds.
    """

    base: str
    head: str
    task: str
    max_drop: float
    until: date
    reason: str

    @property
    def filename(self) -> str:
        """The name below ``baselines/waivers/``."""
        content = digest(self.to_json(), domain="evalgate-waiver")[:8]
        return f"{short_of(self.base)}-{short_of(self.head)}-{content}.toml"

    @property
    def sentence(self) -> str:
        """Say it, for a person."""
        what = self.task or "the suite"
        return (
            f"{what} may fall by up to {self.max_drop * 100:g} points until {self.until}:"
            f" {self.reason}"
        )

    def told(self, today: date) -> str:
        """Say it, and how soon it runs out once that is soon."""
        left = (self.until - today).days
        if left > SOON_DAYS:
            return self.sentence
        last = "today is its last day" if left == 0 else f"runs out in {counted(left, 'day')}"
        return f"{self.sentence} ({last})"

    def to_json(self) -> dict[str, Json]:
        """Return the form that is written as TOML."""
        return {
            "format": FORMAT,
            "base": self.base,
            "head": self.head,
            "task": self.task,
            "max_drop": self.max_drop,
            "until": self.until.isoformat(),
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Waiver:
        """Read the written form; KeyError, TypeError or ValueError when it is not one."""
        drop = float(value["max_drop"])
        if not 0 < drop <= 1:
            message = f"max_drop {drop} does not lie between 0 and 1"
            raise ValueError(message)
        return cls(
            base=str(value["base"]),
            head=str(value["head"]),
            task=str(value["task"]),
            max_drop=drop,
            until=date.fromisoformat(str(value["until"])),
            reason=str(value["reason"]),
        )


def waived(verdict: Verdict, waivers: Sequence[Waiver], *, today: date) -> Verdict:
    """Return a regression as waived, when all that it is blocked by is accepted today.

    Each broken task needs a waiver of its own that covers its drop; a suite that fell needs one
    for the suite. What falls below a floor, breaks a budget or is worse than an anchor can not be
    waived.
    """
    if verdict.decision is not Decision.REGRESSION or verdict.blocked_by & ABSOLUTE:
        return verdict
    if verdict.base is None or verdict.head is None or not verdict.blocked_by:
        return verdict
    pair = (verdict.base.fingerprint, verdict.head.fingerprint)
    holding = [one for one in waivers if (one.base, one.head) == pair and today <= one.until]
    used = []
    for cause in sorted(verdict.blocked_by):
        task = "" if cause == SUITE else cause
        drop = _drop(verdict, task)
        cover = next((w for w in holding if w.task == task and drop <= w.max_drop + 1e-9), None)
        if cover is None:
            return verdict
        used.append(cover)
    return replace(
        verdict,
        decision=Decision.WAIVED,
        sentence=f"A known regression, accepted: {verdict.sentence}",
        reasons=(*(f"waived: {one.told(today)}" for one in used), *verdict.reasons),
    )


def _drop(verdict: Verdict, task: str) -> float:
    if not task:
        return 0.0 if verdict.difference is None else -verdict.difference.point
    change = next((one for one in verdict.changes if one.task == task), None)
    if change is None or change.base is None or change.head is None:
        return 1.0
    before, after = change.base, change.head
    return before.passed / len(before.measured) - after.passed / len(after.measured)

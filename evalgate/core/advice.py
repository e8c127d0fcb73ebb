"""Keep, revert, or cannot tell: what to do with a change, when quality and cost are both known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evalgate.core.decision import Decision
from evalgate.core.json import Json
from evalgate.core.outcome_cost import OutcomeCost


class Word(StrEnum):
    """The advice in a word."""

    KEEP = "keep"
    REVERT = "revert"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The word, and why: the trade-off where quality and cost move apart."""

    word: Word
    why: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"word": str(self.word), "why": self.why}


#: How the head's quality compares with the base's, where a verdict says it.
_QUALITY: Final = {
    Decision.REGRESSION: -1,
    Decision.PASS: 0,
    Decision.NOT_CONFIRMED: 0,
    Decision.IMPROVED: 1,
}
_DOES: Final = {-1: "it does worse", 0: "it does no worse", 1: "it does better"}
_COSTS: Final = {
    "up": "and a run costs more",
    "down": "and a run costs less",
    "": "and a run costs no more",
    None: "and what a run costs is not known",
}
#: Where the head does worse.
_WORSE_COSTS: Final = _COSTS | {
    "down": "though a run costs less",
    "": "and a run costs no less",
}


def advice(
    decision: Decision,
    cost_moved: str | None,
    *,
    base: OutcomeCost | None = None,
    head: OutcomeCost | None = None,
    floor: bool = False,
) -> Advice | None:
    """Say what to do; None where a verdict says nothing of the change itself.

    ``cost_moved`` is the warning on the cost of a run: ``up``, ``down``, empty, or None where
    that is unknown. ``base`` and ``head`` are what a correct outcome costs. Better and dearer,
    or worse and cheaper, is for people to weigh once a correct outcome surely costs more, or less.
    A regression by a ``floor`` alone is not worse than the base, but less than what is asked.
    """
    if decision in {Decision.UNDECIDED, Decision.BUDGET}:
        return Advice(word=Word.CANNOT_TELL, why="too few trials to tell")
    quality = _QUALITY.get(decision)
    if quality is None:
        return None
    costs = _WORSE_COSTS if quality < 0 else _COSTS
    does = "it does not reach what is asked of it" if floor else _DOES[quality]
    why = f"{does}, {costs[cost_moved]}"
    if cost_moved and base is not None and head is not None:
        why += f"; a correct outcome: {base.sentence} → {head.sentence}"
    dearer = cost_moved == "up"
    if (quality > 0 and dearer and _surely_less(base, head)) or (
        quality < 0 and cost_moved == "down" and _surely_less(head, base)
    ):
        return Advice(word=Word.CANNOT_TELL, why=f"a trade-off to weigh: {why}")
    reverted = quality < 0 or (quality == 0 and dearer)
    return Advice(word=Word.REVERT if reverted else Word.KEEP, why=why)


def _surely_less(one: OutcomeCost | None, other: OutcomeCost | None) -> bool:
    """Tell whether the interval of one lies below that of the other."""
    ends = None if one is None else one.high, None if other is None else other.low
    return ends[0] is not None and ends[1] is not None and ends[0] < ends[1]

"""Trials that errored, on both sides of a verdict: shown, for they count in no number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb
from typing import Final

from evalgate.core.json import Json
from evalgate.core.sample import Sample
from evalgate.core.trial import Outcome

_ALPHA: Final = 0.05

#: So many reasons are told.
_REASONS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Errored:
    """How many trials of each side errored, of how many; ``reasons`` are the head's commonest."""

    base: tuple[int, int]
    head: tuple[int, int]
    reasons: tuple[str, ...] = ()

    @property
    def p_more(self) -> float:
        """How likely the head's share is by chance: Fisher's exact test, one-sided (1935)."""
        (base, base_trials), (head, head_trials) = self.base, self.head
        errored, trials = base + head, base_trials + head_trials
        most = min(errored, head_trials)
        ways = sum(
            comb(head_trials, k) * comb(base_trials, errored - k) for k in range(head, most + 1)
        )
        return ways / comb(trials, errored)

    @property
    def beyond_chance(self) -> bool:
        """Tell whether more of the head's trials errored than chance explains."""
        return self.p_more <= _ALPHA

    @property
    def sentence(self) -> str:
        """Say it, for a person."""
        (base, base_trials), (head, head_trials) = self.base, self.head
        said = f"{head} of {head_trials} trials of the head errored ({base} of {base_trials} of"
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"{said} the base){why}"

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        sides = (("base", self.base), ("head", self.head))
        return {
            **{name: {"errored": many, "trials": trials} for name, (many, trials) in sides},
            "reasons": list(self.reasons),
            "p_more": self.p_more,
        }


def errored_of(base: Sample | None, head: Sample | None) -> Errored | None:
    """Return what errored on both sides; None where nothing did, or a side is not there."""
    if base is None or head is None or not base.errored + head.errored:
        return None
    seen = Counter(row.reason for row in head.rows if row.outcome is Outcome.ERRORED)
    return Errored(
        base=(base.errored, len(base.rows)),
        head=(head.errored, len(head.rows)),
        reasons=tuple(f"{count} × {reason}" for reason, count in seen.most_common(_REASONS)),
    )

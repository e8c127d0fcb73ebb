"""The anchor: a release that was measured, beside the parent that a change is judged against.

Twelve changes that each cost a point and a half are seen by hardly any comparison with a parent,
and by nearly every one with the last release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from evalgate.core.decision import Decision
from evalgate.core.json import Json
from evalgate.core.judgement import named, said_of
from evalgate.core.policy import Policy
from evalgate.core.rule import rule
from evalgate.core.sample import Sample
from evalgate.core.statistics import Difference, pass_rate_difference
from evalgate.core.verdict import ANCHOR, Verdict, counts_of, prepare

#: Decisions that an anchor may turn: nothing was found against the parent.
_TURNED: Final = (
    Decision.PASS,
    Decision.IMPROVED,
    Decision.UNDECIDED,
    Decision.NOT_CONFIRMED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """A head held against an anchor: in a sentence, and whether it is worse by the rule.

    ``difference`` is None where the two can not be compared.
    """

    anchor: str
    fingerprint: str
    sentence: str
    difference: Difference | None = None
    p_worse: float | None = None
    broken: frozenset[str] = frozenset()
    worse: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        shift = self.difference
        return {
            "name": self.anchor,
            "fingerprint": self.fingerprint,
            "sentence": self.sentence,
            "difference": None if shift is None else shift.to_json(),
            "p_worse": self.p_worse,
            "broken": sorted(self.broken),
            "worse": self.worse,
        }


def since(name: str, anchor: Sample, head: Sample, policy: Policy) -> Since:
    """Hold a head against the anchor of that name, by the one-stage rule."""
    found = Since(anchor=name, fingerprint=anchor.fingerprint, sentence="")
    prepared = prepare(anchor, head, policy)
    if prepared.decision is not Decision.PASS:
        why = prepared.reasons[0] if prepared.reasons else prepared.sentence
        return replace(found, sentence=f"Since {name}: not to be compared, {why}")
    counts = counts_of(prepared.changes)
    ruling = rule(counts, policy)
    said = f"Since {name}: {said_of(prepared, counts)}"
    if ruling.worse:
        said += f", which is more than chance{named(ruling.broken)}"
    return replace(
        found,
        sentence=f"{said}.",
        difference=pass_rate_difference(counts),
        p_worse=ruling.p_worse,
        broken=ruling.broken,
        worse=ruling.worse,
    )


def turned(verdict: Verdict, found: Since) -> Verdict:
    """Return the verdict as a regression where the policy lets a worse head be one."""
    if not (verdict.policy.anchor_blocks and found.worse and verdict.decision in _TURNED):
        return verdict
    parent = f"against its parent: {verdict.sentence}"
    return replace(
        verdict,
        decision=Decision.REGRESSION,
        sentence=f"This is worse than the last release. {found.sentence}",
        reasons=(parent, *verdict.reasons),
        blocked_by=frozenset({ANCHOR}),
    )

"""How far the numbers of a verdict can be believed, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evalgate.core.change import Change
from evalgate.core.decision import Decision
from evalgate.core.rates import counted
from evalgate.core.trial import Evidence
from evalgate.core.verdict import Verdict

#: What each kind of evidence means, for somebody who does not know the word.
_MEANING: Final[Mapping[Evidence, str]] = {
    Evidence.FAULTED: "made under faults",
    Evidence.TOPPED_UP: "recorded answers, and some of today",
    Evidence.STALE: "recorded for another harness",
    Evidence.REGRADED: "recorded trials, graded again here",
    Evidence.REPLAYED: "the agent ran here on recorded answers",
    Evidence.SPOT_CHECKED: "recorded trials, a few of them made anew",
    Evidence.MEASURED: "live trials made here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The kind of evidence with what it means, and what else a reader has to know of it."""

    evidence: Evidence
    meaning: str
    facts: tuple[str, ...]


def integrity_of(verdict: Verdict, touched: Mapping[str, int]) -> Integrity | None:
    """Return what the head's numbers rest on; None where there are none.

    ``touched`` counts the trials in which each tripwire was touched.
    """
    head = verdict.head
    if head is None or not head.rows:
        return None
    facts = [f"recording no. {head.recordings} of this harness"] * (head.recordings > 1)
    errored = verdict.errored
    if errored is not None and verdict.decision is Decision.NOT_MEASURED:
        errored = replace(errored, reasons=())  # they stand on top of the page
    facts.append(
        f"none of {counted(len(head.rows), 'trial')} errored"
        if errored is None
        else errored.sentence
    )
    wires = ", ".join(f"{name} {many}×" for name, many in touched.items())
    facts.append(f"tripwires touched: {wires}" if wires else "no tripwire touched")
    shelved = verdict.of(Change.QUARANTINED)
    if shelved:
        facts.append(f"in quarantine: {', '.join(one.task for one in shelved)}")
    return Integrity(evidence=head.evidence, meaning=_MEANING[head.evidence], facts=tuple(facts))

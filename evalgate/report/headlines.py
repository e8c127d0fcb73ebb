"""How a decision is told in a few words: its colour on the page, and what it means for a merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from evalgate.core.decision import Decision, is_wanting

#: Each decision's kind of alert on GitHub, and its consequence; an empty one goes without saying.
_TOLD: Final[Mapping[Decision, tuple[str, str]]] = {
    Decision.NOTHING_TO_JUDGE: ("NOTE", ""),
    Decision.PASS: ("NOTE", "nothing speaks against merging"),
    Decision.IMPROVED: ("TIP", "the agent does better with this change"),
    Decision.WAIVED: ("WARNING", "the drop is known and accepted"),
    Decision.NOT_CONFIRMED: ("NOTE", "this does not block"),
    Decision.UNDECIDED: ("NOTE", "this does not block"),
    Decision.REGRESSION: ("CAUTION", "do not merge this as it is"),
    Decision.NO_BASELINE: ("WARNING", "there is nothing to compare this change with"),
    Decision.MOVED: ("WARNING", "measure the base again before this is judged"),
    Decision.NOT_MEASURED: ("WARNING", "nothing is known of this change yet"),
    Decision.NOTHING_RAN: ("WARNING", "nothing is known of this change yet"),
    Decision.VOID: ("CAUTION", "do not merge on these numbers"),
    Decision.STALE: ("WARNING", "this edit is not judged yet"),
    Decision.BUDGET: ("WARNING", "not decided yet; the same command with more money goes on"),
}

#: Of a fork's edit that nobody measured: it is no fault, and its author has no key.
_WAITS: Final = ("NOTE", "a fork has no key to measure with")


class Decided(Protocol):
    """What a headline is made from: a verdict, or its outline."""

    @property
    def decision(self) -> Decision:
        """How the gate ended."""
        ...

    @property
    def strict(self) -> bool:
        """Whether an undecided one is taken for not measured."""
        ...

    @property
    def waits(self) -> bool:
        """Whether only a maintainer can measure it."""
        ...


def alert_of(verdict: Decided) -> str:
    """Return the kind of alert: NOTE, TIP, WARNING or CAUTION."""
    return "WARNING" if is_wanting(verdict.decision, strict=verdict.strict) else _told(verdict)[0]


def headline_of(verdict: Decided) -> str:
    """Return the decision with its consequence, such as ``Regression: do not merge this``."""
    consequence = _told(verdict)[1]
    if is_wanting(verdict.decision, strict=verdict.strict):
        consequence = "an answer is asked for, and there is none yet"
    word = "Waits for a maintainer" if verdict.waits else verdict.decision.capitalize()
    return f"{word}: {consequence}" if consequence else word


def _told(verdict: Decided) -> tuple[str, str]:
    return _WAITS if verdict.waits else _TOLD[verdict.decision]

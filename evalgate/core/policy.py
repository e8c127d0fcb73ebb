"""The pre-registered rules of a verdict: never part of the fingerprint, read from the base."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.confirmation import LIVE_RULE
from evalgate.core.quarantine import Quarantine
from evalgate.core.signal_change import SIGNALS
from evalgate.core.trial import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When a difference counts.

    ``margin`` is the drop in pass rate (0 to 1) that people care about and is shown with
    the interval. The one-stage rule blocks when the suite's exact stratified mid-p is at
    most ``suite_alpha`` or a task's step-down min-P at most ``task_alpha``. More than
    ``max_errored`` of the trials errored means that nothing was measured. With ``prove`` a live
    gate makes all its rounds unless a drop of the margin is excluded before. Whatever the base
    does, a task of ``must_pass`` that fails once blocks, and a mean pass rate below
    ``min_pass_rate`` (0 to 1). ``budgets`` maps a soft signal to the ratio of head to base
    beyond which it blocks; signals without one are only warned of. ``evidence`` is the weakest
    that is taken for a verdict, ``fork_evidence`` for a pull request from another repository.
    ``anchor`` matches the tags of releases, such as ``v*``: the head is held against the newest
    one that was measured as well, and where ``anchor_blocks`` that decides, if nothing was found
    against the parent. Tasks in ``quarantine`` are shown and decide nothing. ``failed_run_usd`` is
    what a failed run costs beside its model: the time of who reads it.
    """

    margin: float = 0.10
    suite_alpha: float = 0.04
    task_alpha: float = 0.01
    max_errored: float = 0.10
    prove: bool = False
    must_pass: tuple[str, ...] = ()
    min_pass_rate: float = 0.0
    budgets: Mapping[str, float] = field(default_factory=dict)
    evidence: Evidence = Evidence.REGRADED
    anchor: str = ""
    anchor_blocks: bool = False
    fork_evidence: Evidence = Evidence.SPOT_CHECKED
    quarantine: tuple[Quarantine, ...] = ()
    failed_run_usd: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers that are no probability."""
        for name in ("margin", "suite_alpha", "task_alpha", "max_errored", "min_pass_rate"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                message = f"{name} must lie between 0 and 1"
                raise ValueError(message)
        if self.anchor_blocks and not self.anchor:
            message = 'anchor_blocks asks for an anchor, such as anchor = "v*"'
            raise ValueError(message)
        for name, ratio in self.budgets.items():
            if not (name in SIGNALS and SIGNALS[name].is_ratio):
                known = ", ".join(name for name, one in SIGNALS.items() if one.is_ratio)
                message = f"budgets: {name!r} is none of {known}"
                raise ValueError(message)
            if not 1.0 <= ratio < math.inf:
                message = f"budgets: {name}: a ratio of head to base is 1 or more, such as 1.25"
                raise ValueError(message)

    @property
    def quarantined(self) -> frozenset[str]:
        """The tasks in quarantine."""
        return frozenset(one.task for one in self.quarantine)

    def asked_evidence(self, *, fork: bool) -> Evidence:
        """Return the weakest evidence that is taken, of a fork or of the project itself."""
        both = (self.evidence, self.fork_evidence) if fork else (self.evidence,)
        return max(both, key=lambda one: one.rank)

    def not_measured(self, errored: int, trials: int) -> bool:
        """Tell whether so many of the trials errored that nothing can be said."""
        return errored > self.max_errored * trials

    @property
    def only_recorded(self) -> tuple[str, ...]:
        """Say of thresholds that were set that no live gate goes by them."""
        default = Policy()
        changed = [
            f"policy.{name} = {getattr(self, name):g}"
            for name in ("suite_alpha", "task_alpha")
            if getattr(self, name) != getattr(default, name)
        ]
        if not changed:
            return ()
        return (
            f"{' and '.join(changed)}: for trials that exist only; what a live gate suspects and"
            " confirms goes by thresholds of its own",
        )

    @property
    def sentence(self) -> str:
        """The rules in one line."""
        said = (
            f"block at suite mid-p ≤ {self.suite_alpha:g} or a task's min-P ≤ "
            f"{self.task_alpha:g}; live where {LIVE_RULE}; margin "
            f"{self.margin * 100:g} points; not measured above "
            f"{self.max_errored * 100:g} % errored trials"
        )
        if self.must_pass:
            said += f"; must pass: {', '.join(self.must_pass)}"
        if self.min_pass_rate:
            said += f"; pass rate at least {self.min_pass_rate * 100:g} %"
        if self.evidence is not Evidence.REGRADED:
            said += f"; evidence at least {self.evidence}"
        if self.anchor:
            blocks = ", which blocks as well" if self.anchor_blocks else ""
            said += f"; anchor {self.anchor}{blocks}"
        if self.quarantine:
            said += f"; in quarantine: {', '.join(sorted(self.quarantined))}"
        if self.failed_run_usd:
            said += f"; a failed run costs ${self.failed_run_usd:g} more"
        for name, ratio in self.budgets.items():
            said += f"; {SIGNALS[name].words} at most {(ratio - 1) * 100:+g} %"
        return said

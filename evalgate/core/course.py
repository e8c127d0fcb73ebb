"""The course of a live gate: which runs are asked for next, and where it ends.

One generator holds the whole procedure, so that the gate and the simulation of its error rates
go through the same steps: it yields what it wants to see, is sent the counts, and returns how it
ended. It runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from evalgate.core.confirmation import Confirmation, Plan, baseline_moved, confirm, plan_of
from evalgate.core.counts import TaskCounts
from evalgate.core.policy import Policy
from evalgate.core.rounds import Look, Sign, look, look_up, looks

Counts = Sequence[TaskCounts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What is wanted: the head's first so many runs of every task, beside the stored baseline."""

    runs: int


Wanted = Round | Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a live gate went: its looks, and what was made of what they suspected.

    ``gain`` is what looked too good, ``confirmed`` what fresh runs of both arms said of the drop
    or, where none was suspected, of the gain; ``moved`` tells that the base did worse afresh
    than its baseline and the drop was not confirmed. ``counts`` are the last ones compared with
    the stored baseline, ``fresh`` those of the confirmation.
    """

    looks: tuple[Look, ...]
    counts: Counts
    gain: Look | None = None
    confirmed: Confirmation | None = None
    fresh: Counts = ()
    moved: bool = False

    @property
    def last(self) -> Look:
        """The look that ended the rounds."""
        return self.looks[-1]

    @property
    def worse(self) -> bool:
        """Tell whether a drop was suspected and confirmed."""
        suspect = self.last.sign is Sign.SUSPECT
        return suspect and self.confirmed is not None and self.confirmed.worse

    @property
    def better(self) -> bool:
        """Tell whether a gain was suspected and confirmed."""
        return self.gain is not None and self.confirmed is not None and self.confirmed.worse


def course(policy: Policy, *, planned: int) -> Generator[Wanted, Counts, Course]:
    """Go through the rounds and, where something is suspected, the confirmation.

    Yields what is wanted next and takes the counts of it: for a round those of the head beside
    the stored baseline, for a plan those of fresh runs of both arms. A round in which no task
    ran in both arms must not be sent.

    Raises:
        ValueError: ``planned`` is below 1, or no task ran in both arms.
    """
    seen: list[Look] = []
    counts: Counts = ()
    reached = 0
    for runs in looks(planned):
        if runs < reached:  # more of each task than asked for was there already
            continue
        counts = yield Round(runs=runs)
        reached = min(planned, max(runs, _least_runs(counts)))
        seen.append(
            look(counts, runs=reached, planned=planned, margin=policy.margin, prove=policy.prove)
        )
        if seen[-1].sign is not Sign.MORE:
            break
    names = [count.task for count in counts if count.comparable]
    if seen[-1].sign is Sign.SUSPECT:
        fresh = yield plan_of(seen[-1], names, planned=planned)
        confirmed = confirm(seen[-1], fresh)
        moved = not confirmed.worse and baseline_moved(_stored_and_fresh(counts, fresh))
        return Course(
            looks=tuple(seen), counts=counts, confirmed=confirmed, fresh=fresh, moved=moved
        )
    gain = look_up(counts, alpha=policy.suite_alpha)
    if gain.sign is not Sign.SUSPECT:
        return Course(looks=tuple(seen), counts=counts)
    fresh = yield plan_of(gain, names, planned=planned, gain=True)
    confirmed = confirm(gain, [count.swapped for count in fresh])
    return Course(looks=tuple(seen), counts=counts, gain=gain, confirmed=confirmed, fresh=fresh)


def goes_on(counts: Counts, *, wanted: int, policy: Policy) -> bool:
    """Tell whether a gate that is to make ``wanted`` runs of each task asks for more after these.

    Raises:
        ValueError: no task ran in both arms.
    """
    made = _least_runs(counts)
    if made < looks(wanted)[0]:
        return True
    sign = look(counts, runs=made, planned=wanted, margin=policy.margin, prove=policy.prove).sign
    return sign is Sign.MORE


def _least_runs(counts: Counts) -> int:
    return min((count.head_runs for count in counts if count.comparable), default=0)


def _stored_and_fresh(counts: Counts, fresh: Counts) -> list[TaskCounts]:
    """Put the stored runs of the base beside its fresh ones, as base and head."""
    stored = {count.task: count for count in counts}
    return [
        TaskCounts(
            task=one.task,
            base_passed=stored[one.task].base_passed,
            base_runs=stored[one.task].base_runs,
            head_passed=one.base_passed,
            head_runs=one.base_runs,
        )
        for one in fresh
        if one.task in stored
    ]

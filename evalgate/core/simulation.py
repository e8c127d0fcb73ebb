"""Gates that never were: the course of a live gate on a suite whose true pass rates are given.

`evalgate plan` and `evalgate noise` ask here how often a gate would see a drop, or cry wolf, on
the suite at hand; the benchmark asks the same of suites that are made up. All of them go through
`evalgate.core.course`, as the gate does.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from evalgate.core.allocation import reached
from evalgate.core.confirmation import Plan
from evalgate.core.counts import TaskCounts
from evalgate.core.course import Course, course
from evalgate.core.policy import Policy

#: Drops that are tried for the smallest one that is seen, in points.
DROPS: Final = (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
#: Simulated gates that a share is of, where a command asks.
GATES: Final = 120
#: A drop is seen that is found four times in five.
POWER: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One task of a made-up gate: its true rates on both sides, and its stored baseline."""

    base: float
    head: float
    stored_passed: int
    stored_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What became of many made-up gates, as shares in [0, 1]; ``spent`` is trials by gate."""

    blocked: float
    suspected: float
    spent: float


class MadeUp:
    """One made-up gate: draws the runs that are asked for; ``spent`` counts them."""

    def __init__(
        self,
        rng: random.Random,
        arms: Mapping[str, Arm],
        allocation: Mapping[str, int] | None = None,
    ) -> None:
        """Draw by ``rng``; arms, and at most how many runs of each, by the name of their task."""
        self._rng = rng
        self._arms = arms
        self._allocation = allocation or dict.fromkeys(arms, 1)
        self._passed = dict.fromkeys(arms, 0)
        self._made = dict.fromkeys(arms, 0)
        self.spent = 0

    def round(self, runs: int) -> list[TaskCounts]:
        """Make the head's runs up to so many of each task; return them beside the baseline."""
        wanted = reached(self._allocation, runs)
        for name, arm in self._arms.items():
            more = wanted[name] - self._made[name]
            self.spent += more
            self._passed[name] += passes(self._rng, arm.head, more)
        self._made = wanted
        return [
            TaskCounts(
                task=name,
                base_passed=arm.stored_passed,
                base_runs=arm.stored_runs,
                head_passed=self._passed[name],
                head_runs=wanted[name],
            )
            for name, arm in self._arms.items()
        ]

    def fresh(self, tasks: Sequence[str], runs: int) -> list[TaskCounts]:
        """Make fresh runs of both sides."""
        self.spent += 2 * runs * len(tasks)
        return [
            TaskCounts(
                task=name,
                base_passed=passes(self._rng, self._arms[name].base, runs),
                base_runs=runs,
                head_passed=passes(self._rng, self._arms[name].head, runs),
                head_runs=runs,
            )
            for name in tasks
        ]


class Gate(Protocol):
    """What has the runs that a gate asks for: the head's, and fresh ones of both sides.

    ``spent`` counts those that were taken.
    """

    spent: int

    def round(self, runs: int) -> list[TaskCounts]:
        """Return so many of the head's runs of each task, beside the baseline."""

    def fresh(self, tasks: Sequence[str], runs: int) -> list[TaskCounts]:
        """Return so many fresh runs of both sides, of some tasks."""


def follow(gate: Gate, policy: Policy, *, planned: int) -> Course:
    """Go through the course of a live gate to its end."""
    steps = course(policy, planned=planned)
    wanted = next(steps)
    while True:
        if isinstance(wanted, Plan):
            counts = gate.fresh(wanted.tasks, wanted.runs)
        else:
            counts = gate.round(wanted.runs)
        try:
            wanted = steps.send(counts)
        except StopIteration as end:
            found: Course = end.value
            return found


def passes(rng: random.Random, rate: float, runs: int) -> int:
    """Draw how many of ``runs`` runs pass."""
    return sum(rng.random() < rate for _ in range(runs))


def lowered(rates: Sequence[float], drop: float) -> list[float]:
    """Take ``drop`` off the mean rate, the same from every task that has it to lose."""
    left, target = math.fsum(rates), max(0.0, math.fsum(rates) - drop * len(rates))
    loss = 0.0
    for done, rate in enumerate(sorted(rates)):
        # All that are not below ``loss`` lose alike, up to where the next one has no more.
        share = (left - target) / (len(rates) - done)
        if loss + share <= rate:
            loss += share
            break
        left -= (rate - loss) * (len(rates) - done)
        loss = rate
    return [max(0.0, rate - loss) for rate in rates]


def outlook(
    stored: Mapping[str, tuple[int, int]],
    policy: Policy,
    *,
    planned: int,
    drop: float,
    gates: int,
    allocation: Mapping[str, int] | None = None,
) -> Outlook:
    """Simulate so many gates on a suite, the same ones every time.

    ``stored`` holds passes and runs of each task's baseline. True rates are drawn for each gate
    from what the baseline leaves open (a beta law with half a pass and half a failure added:
    Jeffreys), and the head's lie ``drop`` below them on average. ``allocation`` says how many
    runs of each task there are at most, where they differ; the largest is ``planned``.
    """
    rng = random.Random(f"{planned} {drop} {sorted(stored.items())}")  # noqa: S311 - no secret
    names = list(stored)

    def one() -> MadeUp:
        base = [rng.betavariate(p + 0.5, n - p + 0.5) for p, n in stored.values()]
        head = lowered(base, drop)
        arms = {
            name: Arm(base=b, head=h, stored_passed=stored[name][0], stored_runs=stored[name][1])
            for name, b, h in zip(names, base, head, strict=True)
        }
        return MadeUp(rng, arms, allocation)

    return outlook_of(one, policy, planned=planned, gates=gates)


def outlook_of(make: Callable[[], Gate], policy: Policy, *, planned: int, gates: int) -> Outlook:
    """Make so many gates, one after the other, and return what became of them."""
    blocked = suspected = spent = 0
    for _ in range(gates):
        one = make()
        found = follow(one, policy, planned=planned)
        blocked += found.worse
        suspected += bool(found.last.suite or found.last.tasks)
        spent += one.spent
    return Outlook(blocked=blocked / gates, suspected=suspected / gates, spent=spent / gates)


def smallest_drop(
    stored: Mapping[str, tuple[int, int]],
    policy: Policy,
    *,
    planned: int,
    gates: int,
    allocation: Mapping[str, int] | None = None,
) -> float | None:
    """Return the smallest drop, as a share, that such gates find four times in five.

    Of those that are tried, up to half of the pass rate; None when none of them is. The arguments
    are those of `outlook`.
    """
    simulated = partial(
        outlook, stored, policy, planned=planned, gates=gates, allocation=allocation
    )
    place = bisect_left(
        DROPS, x=True, key=lambda points: simulated(drop=points / 100).blocked >= POWER
    )
    return DROPS[place] / 100 if place < len(DROPS) else None

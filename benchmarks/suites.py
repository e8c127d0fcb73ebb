"""Made-up suites: how hard their tasks are, what an edit does to them, and runs drawn from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalgate.core.simulation import Arm, MadeUp, lowered, passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Tasks of a suite and runs per task in each arm."""

    tasks: int
    base_runs: int
    head_runs: int

    def __str__(self) -> str:
        """Name the design as the table does."""
        return f"{self.tasks} x {self.base_runs}/{self.head_runs}"


def seed58(rng: random.Random) -> float:
    """Mix easy, hopeless and in-between: 25 % always pass, 15 % never; 58 % on average."""
    kind = rng.random()
    if kind < 0.40:
        return 1.0 if kind < 0.25 else 0.0
    return rng.betavariate(1.375, 1.125)


def golden94(rng: random.Random) -> float:
    """Imitate a regression suite: 65 % always pass, the rest mostly; 94 % on average."""
    return 1.0 if rng.random() < 0.65 else rng.betavariate(3.9, 0.8)


def bimodal(rng: random.Random) -> float:
    """Nearly deterministic: a task passes 95 % of the time, or 6 %."""
    return 0.95 if rng.random() < 0.6 else 0.06


def uniform(rng: random.Random) -> float:
    """Every difficulty is as likely as any other."""
    return rng.random()


def coin(_rng: random.Random) -> float:
    """Every task passes half of the time: the noisiest suite there can be."""
    return 0.5


MIXES: dict[str, Callable[[random.Random], float]] = {
    "seed58": seed58,
    "golden94": golden94,
    "bimodal": bimodal,
    "uniform": uniform,
    "coin": coin,
}
"""A mix draws one task's true pass rate."""


def unchanged(rates: Sequence[float]) -> list[float]:
    """No edit at all."""
    return list(rates)


def minus_15(rates: Sequence[float]) -> list[float]:
    """Take fifteen points off the mean, the same from every task that has them to lose."""
    return lowered(rates, 0.15)


def one_broke(rates: Sequence[float]) -> list[float]:
    """Break the strongest task for good."""
    strongest = rates.index(max(rates))
    return [0.0 if index == strongest else rate for index, rate in enumerate(rates)]


def gate_of(
    rng: random.Random, design: Design, base: Sequence[float], head: Sequence[float]
) -> MadeUp:
    """Draw a stored baseline; ``base`` and ``head`` are the true rates by task."""
    return MadeUp(
        rng,
        {
            f"T-{number}": Arm(
                base=before,
                head=after,
                stored_passed=passes(rng, before, design.base_runs),
                stored_runs=design.base_runs,
            )
            for number, (before, after) in enumerate(zip(base, head, strict=True))
        },
    )

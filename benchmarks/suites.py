"""Made-up suites: how hard their tasks are, what an edit does to them, and runs drawn from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalgate.core.counts import TaskCounts


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
    target = max(0.0, sum(rates) - 0.15 * len(rates))
    low, high = 0.0, 1.0
    for _ in range(40):
        loss = (low + high) / 2
        if sum(max(0.0, rate - loss) for rate in rates) > target:
            low = loss
        else:
            high = loss
    return [max(0.0, rate - high) for rate in rates]


def one_broke(rates: Sequence[float]) -> list[float]:
    """Break the strongest task for good."""
    strongest = rates.index(max(rates))
    return [0.0 if index == strongest else rate for index, rate in enumerate(rates)]


def passes(rng: random.Random, rate: float, runs: int) -> int:
    """Draw how many of `runs` runs pass."""
    return sum(rng.random() < rate for _ in range(runs))


class Experiment:
    """One suite before and after an edit, and the runs that are drawn from it as they are asked."""

    def __init__(
        self, rng: random.Random, design: Design, base: Sequence[float], head: Sequence[float]
    ) -> None:
        """Draw the stored baseline; ``base`` and ``head`` are the true rates by task."""
        self._rng = rng
        self._design = design
        self._rates = {f"T-{n}": pair for n, pair in enumerate(zip(base, head, strict=True))}
        self._stored = {
            name: passes(rng, rates[0], design.base_runs) for name, rates in self._rates.items()
        }
        self._head = dict.fromkeys(self._rates, 0)
        self._made = 0
        #: Runs of the head and fresh runs of both arms, over all tasks.
        self.spent = 0

    def round(self, runs: int) -> list[TaskCounts]:
        """Make the head's runs up to so many of each task; return them beside the baseline."""
        more = runs - self._made
        self._made = runs
        self.spent += more * len(self._rates)
        for name, (_, rate) in self._rates.items():
            self._head[name] += passes(self._rng, rate, more)
        return [
            TaskCounts(
                task=name,
                base_passed=self._stored[name],
                base_runs=self._design.base_runs,
                head_passed=self._head[name],
                head_runs=runs,
            )
            for name in self._rates
        ]

    def fresh(self, tasks: Sequence[str], runs: int) -> list[TaskCounts]:
        """Make fresh runs of both arms."""
        self.spent += 2 * runs * len(tasks)
        return [
            TaskCounts(
                task=name,
                base_passed=passes(self._rng, self._rates[name][0], runs),
                base_runs=runs,
                head_passed=passes(self._rng, self._rates[name][1], runs),
                head_runs=runs,
            )
            for name in tasks
        ]

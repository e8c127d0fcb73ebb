"""What a correct outcome costs: the money of all runs by the number of those that passed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.core.json import Json
from evalgate.core.normal import normal_quantile
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.trial import Outcome

_ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCost:
    """Cost per correct outcome in US dollars, and its 90 % interval.

    ``point`` and ``high`` are infinite where nothing passed, or too little to tell. ``low`` and
    ``high`` are None where a task has but one run, which says nothing of the noise.
    """

    point: float
    low: float | None = None
    high: float | None = None

    @property
    def sentence(self) -> str:
        """Say it, with its interval."""
        if self.low is None or self.high is None:
            return _usd(self.point)
        upper = "no upper end" if math.isinf(self.high) else _usd(self.high)
        return f"{_usd(self.point)} ({_usd(self.low)} to {upper})"

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: what is infinite is null."""
        ends = {"point": self.point, "low": self.low, "high": self.high}
        return {
            name: None if value is None or math.isinf(value) else value
            for name, value in ends.items()
        }


def outcome_cost(
    sample: Sample, tasks: Sequence[str], *, failed_run_usd: float = 0.0
) -> OutcomeCost | None:
    """Return what a correct outcome of some tasks costs; None where a run's cost is unknown.

    ``failed_run_usd`` is what a failed run costs beside the model's price: the time of the person
    who reads it. Every task weighs the same: mean cost of a run by mean pass rate, means of the
    tasks' means. The interval is Fieller's (1954, J. R. Statist. Soc. B 16) for a ratio of two
    correlated means, each with the noise of runs within tasks only.
    """
    strata = [
        _pairs(sample.tasks[task], failed_run_usd)
        for task in tasks
        if task in sample.tasks and sample.tasks[task].measured
    ]
    runs = [pair for stratum in strata if stratum for pair in stratum]
    if not runs or any(stratum is None for stratum in strata) or not any(c for c, _ in runs):
        return None
    means = [_means(stratum) for stratum in strata if stratum]
    cost = math.fsum(c for c, _ in means) / len(means)
    rate = math.fsum(p for _, p in means) / len(means)
    point = cost / rate if rate else math.inf
    if any(len(stratum) == 1 for stratum in strata if stratum):
        return OutcomeCost(point=point)
    noises = [_noise(stratum) for stratum in strata if stratum]
    of_cost, of_rate, of_both = (
        math.fsum(part) / len(means) ** 2 for part in zip(*noises, strict=True)
    )
    low, high = _fieller(cost, rate, of_cost, of_rate, of_both)
    return OutcomeCost(point=point, low=low, high=high)


def _pairs(task: TaskSample, failed_run_usd: float) -> list[tuple[float, float]] | None:
    """Return cost and success of each run; None where a cost is unknown."""
    pairs = []
    for row in task.measured:
        if row.signals.cost_usd is None:
            return None
        passed = row.outcome is Outcome.PASSED
        pairs.append((row.signals.cost_usd + (0.0 if passed else failed_run_usd), float(passed)))
    return pairs


def _means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return tuple(math.fsum(part) / len(pairs) for part in zip(*pairs, strict=True))  # type: ignore[return-value]


def _noise(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Return the variances of both means, and their covariance.

    Runs that all passed, or none, are taken for noisier than they look: half a pass and half a
    failure are added to the variance of their rate.
    """
    runs = len(pairs)
    cost, rate = _means(pairs)
    spread = math.fsum((c - cost) ** 2 for c, _ in pairs) / (runs - 1)
    shared = math.fsum((c - cost) * (p - rate) for c, p in pairs) / (runs - 1)
    likely = (rate * runs + 0.5) / (runs + 1)
    return spread / runs, likely * (1 - likely) / runs, shared / runs


def _fieller(
    cost: float, rate: float, of_cost: float, of_rate: float, of_both: float
) -> tuple[float, float]:
    """Return the ends of all ratios that are not rejected; infinite above where none is."""
    z2 = normal_quantile(1 - _ALPHA) ** 2
    a = rate**2 - z2 * of_rate
    b = cost * rate - z2 * of_both
    c = cost**2 - z2 * of_cost
    root = math.sqrt(max(0.0, b**2 - a * c))
    if a > 0:
        return max(0.0, (b - root) / a), (b + root) / a
    if c <= 0 or a == 0:
        return (max(0.0, c / (2 * b)) if a == 0 and b > 0 else 0.0), math.inf
    return max(0.0, (b - root) / a), math.inf


def _usd(value: float) -> str:
    if math.isinf(value):
        return "nothing passed"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"

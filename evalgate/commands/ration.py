"""How many trials of each task a live gate may make for its money."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.commands.cost import trial_costs
from evalgate.core.allocation import allocate, least_usd, reached
from evalgate.core.harness import Harness
from evalgate.core.policy import Policy
from evalgate.core.sample import Sample
from evalgate.core.simulation import DROPS, GATES, smallest_drop
from evalgate.core.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Ration:
    """The most trials of each task by its id; ``said`` is one line where money sets them.

    ``least_usd`` is the least money with which a gate can end in a decision, where that is known
    and money is limited; ``too_little`` tells that there is less.
    """

    trials: Mapping[str, int]
    said: str = ""
    least_usd: float | None = None
    too_little: bool = False

    @property
    def planned(self) -> int:
        """The most trials of any task."""
        return max(self.trials.values())

    def round(self, runs: int) -> dict[str, int]:
        """Return how many trials of each task a round asks for, ``runs`` of the most tried."""
        return reached(self.trials, runs)


def ration(
    tasks: Sequence[Task], baseline: Sample, harness: Harness, *, trials: int, usd: float | None
) -> Ration:
    """Return what a gate may make: ``trials`` of each task, or fewer where ``usd`` pays for less.

    The costs are those of the baseline's trials; a task that it does not have costs their mean.
    Where nobody knows them the whole suite is planned, and the money ends it when it is spent.
    """
    whole = {task.id: trials for task in tasks}
    known = trial_costs(baseline, harness)
    if usd is None or known is None or not whole:
        return Ration(trials=whole)
    mean = math.fsum(known.values()) / len(known)
    costs = {name: known.get(name, mean) for name in whole}
    allocation, least = allocate(usd, costs, most=trials), least_usd(costs)
    if allocation is None:
        said = (
            f"for ${usd:g} no gate can end in a decision, confirming trials counted:"
            f" it takes about ${least:.2f}"
        )
        return Ration(trials=whole, said=said, least_usd=least, too_little=True)
    if allocation == whole:
        return Ration(trials=whole, least_usd=least)
    fewest, most = min(allocation.values()), max(allocation.values())
    many = f"{most}" if fewest == most else f"{fewest} to {most}"
    said = f"for ${usd:g}: {many} trials a task, not {trials}; the rest is kept to confirm by"
    return Ration(trials=allocation, said=said, least_usd=least)


def would_have_seen(baseline: Sample, policy: Policy, trials: Mapping[str, int]) -> str:
    """Say which drop a gate with so many trials of each task sees, by simulation.

    Tasks without a trial on either side are left out; empty where none is left.
    """
    stored = {name: counts for name, counts in baseline.stored.items() if trials.get(name)}
    if not stored:
        return ""
    made = {name: trials[name] for name in stored}
    drop = smallest_drop(stored, policy, planned=max(made.values()), gates=GATES, allocation=made)
    if drop is None:
        return f"It would have seen no drop of up to {DROPS[-1]} points four times in five."
    return f"It would have seen a drop of {drop * 100:g} points or more (four times in five)."

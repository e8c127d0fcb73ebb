"""How many trials of each task a live gate may make for its money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.commands.making.cost import trial_costs
from evalgate.core.allocation import allocate, least_usd, reached
from evalgate.core.counts import TaskCounts
from evalgate.core.harness import Harness
from evalgate.core.policy import Policy
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.simulation import DROPS, GATES, smallest_drop
from evalgate.core.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Ration:
    """The most trials of each task by its id; ``said`` is one line where money sets them.

    ``wanted`` is how many of each there were to be, however much money there is.
    ``least_usd`` is the least money with which a gate can end in a decision, where that is known
    and money is limited; ``too_little`` tells that there is less.
    """

    trials: Mapping[str, int]
    wanted: int
    said: str = ""
    least_usd: float | None = None
    too_little: bool = False

    @property
    def planned(self) -> int:
        """The most trials of any task."""
        return max(self.trials.values())

    @property
    def cut(self) -> bool:
        """Tell whether money pays for fewer trials than there were to be."""
        return min(self.trials.values()) < self.wanted

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
    costs = trial_costs(baseline, harness, whole)
    if usd is None or costs is None or not whole:
        return Ration(trials=whole, wanted=trials)
    allocation, least = allocate(usd, costs, most=trials), least_usd(costs)
    if allocation is None:
        said = (
            f"for ${usd:g} no gate can end in a decision, confirming trials counted:"
            f" it takes about ${least:.2f}"
        )
        return Ration(trials=whole, wanted=trials, said=said, least_usd=least, too_little=True)
    if allocation == whole:
        return Ration(trials=whole, wanted=trials, least_usd=least)
    fewest, most = min(allocation.values()), max(allocation.values())
    many = counted(most, "trial") if fewest == most else f"{fewest} to {most} trials"
    said = f"for ${usd:g}: {many} a task, not {trials}; the rest is kept to confirm by"
    return Ration(trials=allocation, wanted=trials, said=said, least_usd=least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The smallest drop that a gate sees four times in five; None beyond all that are tried."""

    drop: float | None

    @property
    def sentence(self) -> str:
        """Say it of a gate that decided nothing."""
        if self.drop is None:
            return f"It would have seen no drop of up to {DROPS[-1]} points four times in five."
        points = f"{self.drop * 100:g} points"
        return f"It would have seen a drop of {points} or more (four times in five)."


def sight_of(counts: Sequence[TaskCounts], policy: Policy) -> Sight | None:
    """Return what a gate with so many trials of each task sees, by simulation.

    Tasks without a trial on either side are left out; None where none is left.
    """
    both = [count for count in counts if count.comparable]
    if not both:
        return None
    stored = {count.task: (count.base_passed, count.base_runs) for count in both}
    made = {count.task: count.head_runs for count in both}
    drop = smallest_drop(stored, policy, planned=max(made.values()), gates=GATES, allocation=made)
    return Sight(drop=drop)

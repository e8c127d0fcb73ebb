"""A sum of money dealt out over the tasks of a live gate: how many runs of each it pays for.

Where runs of tasks cost differently, a sum says most of the mean over tasks when each gets runs in
proportion to 1 / sqrt(cost) (Cochran 1977, *Sampling Techniques*, 5.5). It is dealt out by cost
alone: to choose by the pass rates that are compared would raise the false blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalgate.core.confirmation import confirming_cost


def allocate(usd: float, costs: Mapping[str, float], *, most: int) -> dict[str, int] | None:
    """Return how many runs of each task ``usd`` pays for: at least one, at most ``most``.

    ``costs`` is what one run of each task costs, in the unit of ``usd``. What the confirmation of
    a suspicion may cost at most is put aside first, so that the gate can end in a decision. None
    where the money pays for no gate at all.
    """
    for planned in range(most, 0, -1):
        money = usd - confirming_cost(costs, planned=planned)
        runs = _dealt(money, costs, most=planned)
        if runs is not None and max(runs.values()) == planned:
            return runs
    return None


def least_usd(costs: Mapping[str, float]) -> float:
    """Return the least money with which a gate can end in a decision: one run of each task."""
    return math.fsum(costs.values()) + confirming_cost(costs, planned=1)


def reached(allocation: Mapping[str, int], runs: int) -> dict[str, int]:
    """Return how many runs of each task a round asks for, of which ``runs`` come to the largest.

    Each task is as far as the others, rounded up: shares of the whole allocation.
    """
    largest = max(allocation.values())
    return {name: math.ceil(most * runs / largest) for name, most in allocation.items()}


def _dealt(money: float, costs: Mapping[str, float], *, most: int) -> dict[str, int] | None:
    """Give a run to each task, then one more to where it takes most variance off for its cost."""
    runs = dict.fromkeys(costs, 1)
    left = money - math.fsum(costs.values())
    if not costs or left < 0:
        return None
    while True:
        payable = [name for name in sorted(costs) if runs[name] < most and costs[name] <= left]
        if not payable:
            return runs
        # What a further run costs for the variance that it takes off: 1/n - 1/(n + 1).
        best = min(payable, key=lambda name: costs[name] * runs[name] * (runs[name] + 1))
        runs[best] += 1
        left -= costs[best]

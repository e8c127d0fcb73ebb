"""Gates dealt from trials that were really made: how noisy a gate is, without any law assumed.

Each gate deals the trials of every task anew and takes baseline, head and confirming runs from
the deal, no trial twice. With one harness on both sides (A/A) a block is a false one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial

from evalgate.core.confirmation import most_confirming_runs
from evalgate.core.counts import TaskCounts
from evalgate.core.policy import Policy
from evalgate.core.simulation import Outlook, outlook_of


def trials_needed(*, stored: int, planned: int) -> int:
    """Return how many trials of a task one A/A gate takes at most."""
    return stored + planned + 2 * most_confirming_runs(planned)


class Dealt:
    """One gate whose runs are dealt from real trials; ``spent`` counts the head's and fresh ones.

    ``base`` and ``head`` hold, by task, whether each trial passed. Where both are one and the
    same object, both sides take from one deal.
    """

    def __init__(
        self,
        rng: random.Random,
        base: Mapping[str, Sequence[bool]],
        head: Mapping[str, Sequence[bool]],
        *,
        stored: int,
    ) -> None:
        """Deal, and take ``stored`` trials of each task as the baseline."""
        self._base = {task: rng.sample(known, len(known)) for task, known in base.items()}
        self._head = self._base
        if head is not base:
            self._head = {task: rng.sample(known, len(known)) for task, known in head.items()}
        self._stored = stored
        self._baseline = {task: _take(self._base[task], stored) for task in base}
        self._passed = dict.fromkeys(base, 0)
        self._made = 0
        self.spent = 0

    def round(self, runs: int) -> list[TaskCounts]:
        """Take more of the head's trials, up to so many of each task."""
        more, self._made = runs - self._made, runs
        self.spent += more * len(self._passed)
        for task in self._passed:
            self._passed[task] += _take(self._head[task], more)
        return [
            TaskCounts(
                task=task,
                base_passed=self._baseline[task],
                base_runs=self._stored,
                head_passed=passed,
                head_runs=runs,
            )
            for task, passed in self._passed.items()
        ]

    def fresh(self, tasks: Sequence[str], runs: int) -> list[TaskCounts]:
        """Take confirming trials of both sides."""
        self.spent += 2 * runs * len(tasks)
        return [
            TaskCounts(
                task=task,
                base_passed=_take(self._base[task], runs),
                base_runs=runs,
                head_passed=_take(self._head[task], runs),
                head_runs=runs,
            )
            for task in tasks
        ]


def dealt_outlook(
    base: Mapping[str, Sequence[bool]],
    head: Mapping[str, Sequence[bool]],
    policy: Policy,
    *,
    stored: int,
    planned: int,
    gates: int,
) -> Outlook:
    """Deal so many gates, the same ones every time; return what became of them.

    Raises:
        ValueError: a task has fewer trials than a gate takes.
    """
    rng = random.Random(f"{stored} {planned} {base is head}")  # noqa: S311 - no secret
    deal = partial(Dealt, rng, base, head, stored=stored)
    return outlook_of(deal, policy, planned=planned, gates=gates)


def _take(deal: list[bool], number: int) -> int:
    """Take trials off a deal; return how many of them passed."""
    if number > len(deal):
        raise ValueError(f"{number} trials are wanted, and {len(deal)} are left")
    taken, deal[:] = deal[:number], deal[number:]
    return sum(taken)

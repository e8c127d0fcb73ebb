"""`evalgate plan` and `evalgate noise`: what a gate on this suite would see, and what it costs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.commands.ancestry import find_baseline
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tables import render_rows
from evalgate.core.json import Json
from evalgate.core.policy import Policy
from evalgate.core.rates import percent
from evalgate.core.rounds import looks
from evalgate.core.sample import Sample
from evalgate.core.simulation import Outlook, outlook
from evalgate.errors import UsageError

_TRIALS = (1, 3, 5, 10, 20)
_GATES = 150
_POWER = 0.8
#: Drops that are tried for the smallest one that would be seen, in points.
_DROPS = (2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One number of trials a task: how often a drop would be found, and what it takes."""

    trials: int
    found: float
    false_blocks: float
    spent: float
    usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What may be chosen for one drop; ``affordable`` is the best within a sum of money."""

    drop: float
    tasks: int
    runs: int
    choices: tuple[Choice, ...]
    usd: float | None = None

    @property
    def affordable(self) -> Choice | None:
        """The choice that finds most for the money, None without one that is known to fit."""
        if self.usd is None:
            return None
        fitting = [one for one in self.choices if one.usd is not None and one.usd <= self.usd]
        return max(fitting, key=lambda one: one.found, default=None)

    @property
    def text(self) -> str:
        """The table, and what it says."""
        rows = [("trials a task", "found", "false blocks", "trials a gate", "money a gate")]
        rows += [
            (
                str(one.trials),
                _share(one.found),
                _share(one.false_blocks),
                f"about {one.spent:.0f}",
                "unknown" if one.usd is None else f"about ${one.usd:.2f}",
            )
            for one in self.choices
        ]
        drop = f"{self.drop * 100:g} points"
        said = [
            f"A drop of {drop}, on {self.tasks} tasks with {self.runs} stored trials; confirming"
            " trials are counted:",
            render_rows(rows),
        ]
        good = next((one for one in self.choices if one.found >= _POWER), None)
        if good is None:
            said.append(
                "None of these would find it four times in five: measure the baseline more"
                " often (evalgate run -k 20), or add tasks."
            )
        else:
            said.append(f"{good.trials} trials a task find it at least four times in five.")
        if self.usd is not None:
            said.append(self._for_the_money())
        return "\n".join(said)

    def _for_the_money(self) -> str:
        best = self.affordable
        if best is None:
            return f"For ${self.usd:.2f} none of these is known to be affordable."
        return (
            f"For ${self.usd:.2f}: {best.trials} trials a task, which find it"
            f" {_share(best.found)} of the time."
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        best = self.affordable
        return {
            "drop": self.drop,
            "tasks": self.tasks,
            "stored_trials": self.runs,
            "choices": [
                {
                    "trials": one.trials,
                    "found": one.found,
                    "false_blocks": one.false_blocks,
                    "trials_a_gate": one.spent,
                    "usd_a_gate": one.usd,
                }
                for one in self.choices
            ],
            "affordable": None if best is None else best.trials,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How noisy the gate is on this suite as it is: nothing changed."""

    trials: int
    tasks: int
    runs: int
    nothing: Outlook
    smallest: float | None

    @property
    def text(self) -> str:
        """Say it in three lines."""
        seen = (
            f"The smallest drop that it finds four times in five: {self.smallest * 100:g} points."
            if self.smallest is not None
            else f"It finds no even drop of up to {_DROPS[-1]} points four times in five."
        )
        rounds = ", ".join(map(str, looks(self.trials)))
        return "\n".join(
            (
                f"{self.tasks} tasks × {self.trials} trials (looks at {rounds}) against"
                f" {self.runs} stored trials, {_GATES} simulated gates with nothing changed:",
                f"{_share(self.nothing.suspected)} are suspected and run afresh,"
                f" {_share(self.nothing.blocked)} are blocked.",
                seen,
            )
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "trials": self.trials,
            "tasks": self.tasks,
            "stored_trials": self.runs,
            "suspected": self.nothing.suspected,
            "false_blocks": self.nothing.blocked,
            "smallest_drop": self.smallest,
        }


def plan(project: Project, *, rev: str | None, drop: float, usd: float | None) -> Planned:
    """Simulate gates with several numbers of trials on the suite's own baseline.

    Raises:
        UsageError: nobody measured this harness, or the drop is none.
    """
    if not 0 < drop <= 1:
        message = f"--drop {drop * 100:g}: a drop lies between 0 and 100 points"
        raise UsageError(message, hint="--drop 15 asks for fifteen points")
    policy, sample, _ = _measured(project, rev)
    stored = _stored(sample)
    price = _price(sample)
    choices = []
    for trials in _TRIALS:
        found = outlook(stored, policy, planned=trials, drop=drop, gates=_GATES)
        nothing = outlook(stored, policy, planned=trials, drop=0.0, gates=_GATES)
        choices.append(
            Choice(
                trials=trials,
                found=found.blocked,
                false_blocks=nothing.blocked,
                spent=nothing.spent,
                usd=None if price is None else price * nothing.spent,
            )
        )
    return Planned(
        drop=drop, tasks=len(stored), runs=_runs(stored), choices=tuple(choices), usd=usd
    )


def noise(project: Project, *, rev: str | None, trials: int | None) -> Noise:
    """Simulate gates on one harness against itself, from its baseline.

    Raises:
        UsageError: nobody measured this harness.
    """
    policy, sample, configured = _measured(project, rev)
    stored, planned = _stored(sample), trials or configured
    nothing = outlook(stored, policy, planned=planned, drop=0.0, gates=_GATES)

    def is_seen(points: int) -> bool:
        drop = points / 100
        seen = outlook(stored, policy, planned=planned, drop=drop, gates=_GATES)
        return seen.blocked >= _POWER

    place = bisect_left(_DROPS, x=True, key=is_seen)
    smallest = _DROPS[place] / 100 if place < len(_DROPS) else None
    return Noise(
        trials=planned,
        tasks=len(stored),
        runs=_runs(stored),
        nothing=nothing,
        smallest=smallest,
    )


def _measured(project: Project, rev: str | None) -> tuple[Policy, Sample, int]:
    with open_state(project, subject_of(rev)) as state:
        found = find_baseline(state)
        if found is None:
            message = f"nobody measured the harness of {state.view.label}"
            hint = "evalgate run, then evalgate baseline accept"
            raise UsageError(message, hint=hint)
        policy = state.config.policy
        return policy, found.sample.without(policy.quarantined), state.config.trials


def _stored(sample: Sample) -> dict[str, tuple[int, int]]:
    return {
        name: (task.passed, len(task.measured))
        for name, task in sorted(sample.tasks.items())
        if task.measured
    }


def _runs(stored: Mapping[str, tuple[int, int]]) -> int:
    return sum(runs for _, runs in stored.values())


def _price(sample: Sample) -> float | None:
    """Return what a trial costs on average; None when that is unknown of any of them."""
    costs: Sequence[float | None] = [row.signals.cost_usd for row in sample.rows]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(costs) else None


def _share(share: float) -> str:
    return percent(round(share * _GATES), _GATES)

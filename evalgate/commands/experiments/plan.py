"""`evalgate plan`: what a gate on this suite would see, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.commands.baselines.accept import ENOUGH
from evalgate.commands.experiments.measured_suite import (
    measured_suite,
    said_of_left_out,
    said_share,
)
from evalgate.commands.making.estimate import cost_unknown
from evalgate.commands.project import Project
from evalgate.commands.tables import render_rows
from evalgate.core.allocation import allocate
from evalgate.core.json import Json
from evalgate.core.policy import Policy
from evalgate.core.rates import counted
from evalgate.core.simulation import DROPS, GATES, POWER, outlook, smallest_drop
from evalgate.errors import UsageError

_TRIALS = (1, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One number of trials a task: how often a drop would be found, and what it takes."""

    trials: int
    found: float
    false_blocks: float
    spent: float
    usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Affordable:
    """What a sum of money buys at most: trials of each task, and what they find of the drop.

    ``trials`` is empty where the money pays for no gate, or nobody knows what trials cost;
    ``smallest`` is the smallest drop that they find four times in five.
    """

    usd: float
    trials: Mapping[str, int] = field(default_factory=dict)
    found: float = 0.0
    smallest: float | None = None

    @property
    def text(self) -> str:
        """Say it in one line."""
        if not self.trials:
            return f"For ${self.usd:.2f} no gate is known to be affordable."
        most = max(self.trials.values())
        fewer = [f"{n} of {name}" for name, n in sorted(self.trials.items()) if n < most]
        least = (
            f"no drop of up to {DROPS[-1]} points"
            if self.smallest is None
            else f"a drop of {self.smallest * 100:g} points or more"
        )
        return (
            f"For ${self.usd:.2f} at most, what confirms counted: {counted(most, 'trial')} a task"
            f"{' (' + ', '.join(fewer) + ')' if fewer else ''}, which find it"
            f" {said_share(self.found)} of the time, and {least} four times in five."
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "usd": self.usd,
            "trials": dict(self.trials),
            "found": self.found,
            "smallest_drop": self.smallest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What may be chosen for one drop; ``affordable`` is the best within a sum of money.

    ``stored`` is how many trials of each task there are at least; ``warnings`` are of the number
    of trials that is configured; ``unpriced`` are keys of the configuration that lack where the
    money is unknown.
    """

    drop: float
    tasks: int
    runs: int
    stored: int
    choices: tuple[Choice, ...]
    affordable: Affordable | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The table, and what it says."""
        rows = [("trials a task", "found", "false blocks", "trials a gate", "money a gate")]
        rows += [
            (
                str(one.trials),
                said_share(one.found),
                said_share(one.false_blocks),
                f"about {one.spent:.0f}",
                "unknown" if one.usd is None else f"about ${one.usd:.2f}",
            )
            for one in self.choices
        ]
        drop = f"{self.drop * 100:g} points"
        said = [
            f"A drop of {drop}, on {counted(self.tasks, 'task')} with"
            f" {counted(self.runs, 'stored trial')}; confirming trials are counted:",
            render_rows(rows),
        ]
        good = next((one for one in self.choices if one.found >= POWER), None)
        if good is None:
            more = (
                "add tasks."
                if self.stored >= ENOUGH
                else f"measure the baseline more often (evalgate run -k {ENOUGH}), or add tasks."
            )
            said.append(f"None of these would find it four times in five: {more}")
        else:
            said.append(
                f"{counted(good.trials, 'trial')} a task find it at least four times in five."
            )
        if self.unpriced:
            said.append(f"Money: {cost_unknown(self.unpriced)}.")
        if self.left_out:
            said.append(said_of_left_out(self.left_out))
        if self.affordable is not None:
            said.append(self.affordable.text)
        said += [f"As configured: {one}." for one in self.warnings]
        return "\n".join(said)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "drop": self.drop,
            "tasks": self.tasks,
            "stored_trials": self.runs,
            "left_out": list(self.left_out),
            "warnings": list(self.warnings),
            "unpriced": list(self.unpriced),
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
            "affordable": None if self.affordable is None else self.affordable.to_json(),
        }


def plan(project: Project, *, rev: str | None, drop: float, usd: float | None) -> Planned:
    """Simulate gates with several numbers of trials on the suite's own baseline.

    Raises:
        UsageError: nobody measured this harness, or the drop is none.
    """
    if not 0 < drop <= 1:
        message = f"--drop {drop * 100:g}: a drop lies between 0 and 100 points"
        raise UsageError(message, hint="--drop 15 asks for fifteen points")
    suite = measured_suite(project, rev)
    policy, stored, costs = suite.policy, suite.stored, suite.costs
    price = None if costs is None else math.fsum(costs.values()) / len(costs)
    choices = []
    for trials in _TRIALS:
        found = outlook(stored, policy, planned=trials, drop=drop, gates=GATES)
        nothing = outlook(stored, policy, planned=trials, drop=0.0, gates=GATES)
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
        drop=drop,
        tasks=len(stored),
        runs=suite.runs,
        stored=min(runs for _, runs in stored.values()),
        left_out=suite.left_out,
        warnings=suite.foreseen,
        unpriced=suite.unpriced if costs is None else (),
        choices=tuple(choices),
        affordable=None if usd is None else _affordable(usd, stored, costs, policy, drop),
    )


def _affordable(
    usd: float,
    stored: Mapping[str, tuple[int, int]],
    costs: Mapping[str, float] | None,
    policy: Policy,
    drop: float,
) -> Affordable:
    """Deal the money out as `evalgate gate --usd` does, for up to as many trials as are tried."""
    dealt = None
    if costs is not None:
        dealt = allocate(usd, costs, most=_TRIALS[-1])
    if dealt is None:
        return Affordable(usd=usd)
    planned = max(dealt.values())
    found = outlook(
        stored, policy, planned=planned, drop=drop, gates=GATES, allocation=dealt
    ).blocked
    smallest = smallest_drop(stored, policy, planned=planned, gates=GATES, allocation=dealt)
    return Affordable(usd=usd, trials=dealt, found=found, smallest=smallest)

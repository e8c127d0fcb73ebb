"""How often the verdict is wrong: simulated suites through the rule that blocks.

    python -m benchmarks.verdict_simulation [--quick]

Every experiment draws a suite from a mix of task difficulties, runs it before and after an edit,
and asks the one-stage rule: block when the suite's lower-tail mid-p is at most 0.04 or a task's
adjusted p at most 0.01. The edits: none (a block is a false one), fifteen points lost over the
whole suite (each task loses the same, none falls below 0), the strongest task broken to 0 %.

Needs nothing but the package itself. Seeds are fixed: the same table every time. The last line is
one JSON object. Exit status: 0 when every goal holds, 1 when one does not.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from evalgate.core.counts import TaskCounts
from evalgate.core.policy import Policy
from evalgate.core.rule import rule

POLICY = Policy()

FALSE_BLOCK_GOAL = 0.05
POWER_GOAL = 0.65
POWER_CELL = ("seed58", "12 x 5/5")
NOISE_ALLOWED = 2.5
"""Standard errors of the simulation by which a false-block rate may pass its goal: with fifteen
cells, some are above their true rate by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Tasks of a suite and runs per task in each arm."""

    tasks: int
    base_runs: int
    head_runs: int

    def __str__(self) -> str:
        """Name the design as the table does."""
        return f"{self.tasks} x {self.base_runs}/{self.head_runs}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Shares of experiments blocked, in [0, 1], for one mix and design."""

    mix: str
    design: str
    false_block: float
    power_minus_15: float
    power_one_broke: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One promise and what was found of it, as shares."""

    name: str
    limit: float
    found: float
    ok: bool


DESIGNS = (
    Design(tasks=12, base_runs=5, head_runs=5),
    Design(tasks=12, base_runs=20, head_runs=5),
    Design(tasks=30, base_runs=10, head_runs=10),
)


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


def blocks(counts: Sequence[TaskCounts]) -> bool:
    """Apply the one-stage rule."""
    return rule(counts, POLICY).worse


def share_blocked(
    mix: str, design: Design, edit: Callable[[Sequence[float]], list[float]], experiments: int
) -> float:
    """Simulate, and return the share of experiments that the rule blocked."""
    rng = random.Random(f"{mix} {design} {edit.__name__}")
    blocked = 0
    for _ in range(experiments):
        before = [MIXES[mix](rng) for _ in range(design.tasks)]
        arms = zip(before, edit(before), strict=True)
        blocked += blocks(
            [
                TaskCounts(
                    task=f"T-{index}",
                    base_passed=passes(rng, base_rate, design.base_runs),
                    base_runs=design.base_runs,
                    head_passed=passes(rng, head_rate, design.head_runs),
                    head_runs=design.head_runs,
                )
                for index, (base_rate, head_rate) in enumerate(arms)
            ]
        )
    return blocked / experiments


def passes(rng: random.Random, rate: float, runs: int) -> int:
    """Draw how many of `runs` runs pass."""
    return sum(rng.random() < rate for _ in range(runs))


def simulate(*, unedited: int, edited: int) -> Iterator[Cell]:
    """Run every mix in every design; the arguments are experiments per edit."""
    for design in DESIGNS:
        for mix in MIXES:
            yield Cell(
                mix=mix,
                design=str(design),
                false_block=share_blocked(mix, design, unchanged, unedited),
                power_minus_15=share_blocked(mix, design, minus_15, edited),
                power_one_broke=share_blocked(mix, design, one_broke, edited),
            )


def goals(cells: Sequence[Cell], unedited: int) -> list[Goal]:
    """Hold the figures against what is promised."""
    noise = math.sqrt(FALSE_BLOCK_GOAL * (1 - FALSE_BLOCK_GOAL) / unedited)
    limit = FALSE_BLOCK_GOAL + NOISE_ALLOWED * noise
    worst = max(cell.false_block for cell in cells)
    (power,) = (cell.power_minus_15 for cell in cells if (cell.mix, cell.design) == POWER_CELL)
    return [
        Goal(
            name="worst false block at most 5 % and simulation noise",
            limit=limit,
            found=worst,
            ok=worst <= limit,
        ),
        Goal(
            name=f"power at -15 points, {' '.join(POWER_CELL)}, at least",
            limit=POWER_GOAL,
            found=power,
            ok=power >= POWER_GOAL,
        ),
    ]


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict_simulation")
    parser.add_argument("--quick", action="store_true", help="fewer experiments, under 45 s")
    quick = parser.parse_args().quick
    unedited, edited = (1000, 300) if quick else (6000, 2000)

    print(f"{unedited} experiments without an edit, {edited} with each edit; % blocked")
    print(f"{'suite':<12}{'mix':<10}{'no edit':>9}{'-15 points':>12}{'one task broke':>16}")
    cells = []
    for cell in simulate(unedited=unedited, edited=edited):
        print(
            f"{cell.design:<12}{cell.mix:<10}{cell.false_block:>9.1%}"
            f"{cell.power_minus_15:>12.1%}{cell.power_one_broke:>16.1%}",
            flush=True,
        )
        cells.append(cell)
    verdicts = goals(cells, unedited)
    for goal in verdicts:
        mark = "ok    " if goal.ok else "MISSED"
        print(f"{mark} {goal.name}: found {goal.found:.1%}, limit {goal.limit:.1%}")
    ok = all(goal.ok for goal in verdicts)
    document = {
        "benchmark": "verdict_simulation",
        "quick": quick,
        "experiments": {"unedited": unedited, "edited": edited},
        "figures": [asdict(cell) for cell in cells],
        "goals": [asdict(goal) for goal in verdicts],
        "ok": ok,
    }
    print(json.dumps(document))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

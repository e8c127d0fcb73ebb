"""How often the verdict is wrong: simulated suites through the very procedure of the gate.

    python -m benchmarks.verdict_simulation [--quick]

Every experiment draws a suite from a mix of task difficulties and a stored baseline of it, then
lets `evalgate.core.course` ask for runs, as a live gate does: rounds with early stop, suspicion,
fresh runs of both arms. Beside it stands the one-stage rule on the same counts, which judges where
nothing can be run afresh. The edits: none (a block is a false one), fifteen points lost over the
whole suite (each task loses the same, none falls below 0), the strongest task broken to 0 %.

Needs nothing but the package itself. Seeds are fixed: the same table every time. The last line is
one JSON object. Exit status: 0 when every goal holds, 1 when one does not.
"""

import argparse
import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.signals import Signals, simulate_signals
from benchmarks.suites import MIXES, Design, gate_of, minus_15, one_broke, unchanged
from evalgate.core.policy import Policy
from evalgate.core.rule import rule
from evalgate.core.simulation import follow
from evalgate.core.statistics import pass_rate_difference

POLICY = Policy()

SMALL = Design(tasks=12, base_runs=5, head_runs=5)
STORED = Design(tasks=12, base_runs=20, head_runs=5)
LARGE = Design(tasks=30, base_runs=10, head_runs=10)
SINGLE = Design(tasks=20, base_runs=1, head_runs=1)
TRIPLE = Design(tasks=20, base_runs=3, head_runs=3)
DESIGNS = (SMALL, STORED, LARGE, SINGLE, TRIPLE)

FALSE_BLOCK, FALSE_BLOCK_SMALL = 0.05, 0.03
COVERAGE = 0.89
POWER = {SMALL: 0.75, STORED: 0.85, LARGE: 0.97}
ONE_BROKE = 0.97
ONE_BROKE_MIXES = ("seed58", "golden94", "bimodal")
SOFT, CREEP = 0.05, 0.90
SPENT = {SMALL: 0.85, LARGE: 0.55}
NOISE_ALLOWED = 2.5
"""Standard errors of the simulation by which a share may miss its goal: with many cells, some
miss their true share by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What became of the experiments with one edit, as shares in [0, 1].

    ``spent`` is runs made, confirming ones of both arms included, by all the planned ones, and
    ``spent_error`` the standard error of that mean; ``one_stage`` the share the one-stage rule
    blocked on all planned runs; ``covered`` how often the 90 % interval of those held the true
    difference.
    """

    blocked: float
    spent: float
    spent_error: float
    one_stage: float
    covered: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One mix in one design, with each edit."""

    mix: str
    design: str
    nothing: Shares
    minus_15: Shares
    one_broke: Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One promise and what was found of it, as shares."""

    name: str
    limit: float
    found: float
    at_least: bool
    ok: bool


def shares(
    mix: str, design: Design, edit: Callable[[Sequence[float]], list[float]], experiments: int
) -> Shares:
    """Simulate one edit of one mix in one design."""
    rng = random.Random(f"{mix} {design} {edit.__name__}")
    blocked = one_stage = covered = 0
    spent: list[float] = []
    for _ in range(experiments):
        before = [MIXES[mix](rng) for _ in range(design.tasks)]
        after = edit(before)
        gate = gate_of(rng, design, before, after)
        blocked += follow(gate, POLICY, planned=design.head_runs).worse
        spent.append(gate.spent / (design.tasks * design.head_runs))
        whole = gate_of(rng, design, before, after).round(design.head_runs)
        one_stage += rule(whole, POLICY).worse
        interval = pass_rate_difference(whole)
        true = (sum(after) - sum(before)) / design.tasks
        covered += interval.low - 1e-12 <= true <= interval.high + 1e-12
    return Shares(
        blocked=blocked / experiments,
        spent=statistics.fmean(spent),
        spent_error=statistics.stdev(spent) / math.sqrt(experiments),
        one_stage=one_stage / experiments,
        covered=covered / experiments,
    )


def simulate(*, unedited: int, edited: int) -> Iterator[Cell]:
    """Run every mix in every design; the arguments are experiments per edit."""
    for design in DESIGNS:
        # A large suite takes its time, and shows its shares in fewer experiments.
        fewer = 3 if design is LARGE else 1
        for mix in MIXES:
            yield Cell(
                mix=mix,
                design=str(design),
                nothing=shares(mix, design, unchanged, unedited // fewer),
                minus_15=shares(mix, design, minus_15, edited // fewer),
                one_broke=shares(mix, design, one_broke, edited // fewer),
            )


def goal(name: str, found: float, limit: float, number: int, *, at_least: bool = False) -> Goal:
    """Hold a share of so many experiments against its limit, noise allowed."""
    noise = NOISE_ALLOWED * math.sqrt(limit * (1 - limit) / number)
    ok = found >= limit - noise if at_least else found <= limit + noise
    return Goal(name=name, limit=limit, found=found, at_least=at_least, ok=ok)


def signal_goals(found: Signals, number: int) -> list[Goal]:
    """Hold what became of soft signals and of creep against what is promised."""
    return [
        goal("unchanged comparisons with a soft warning", found.warned, SOFT, number),
        goal("years of nothing with an alarm", found.year_alarmed, SOFT, number),
        goal(
            "one percent a week found in half a year",
            found.creep_found,
            CREEP,
            number,
            at_least=True,
        ),
    ]


def goals(cells: Sequence[Cell], *, unedited: int, edited: int) -> list[Goal]:
    """Hold the figures against what is promised."""
    by = {(cell.design, cell.mix): cell for cell in cells}
    few, small, little = unedited // 3, str(SMALL), edited // 3
    every = [shares for c in cells for shares in (c.nothing, c.minus_15, c.one_broke)]
    found = [
        goal("worst false block", max(c.nothing.blocked for c in cells), FALSE_BLOCK, few),
        goal(
            "worst false block of the one-stage rule",
            max(c.nothing.one_stage for c in cells),
            FALSE_BLOCK,
            few,
        ),
        *(
            goal(
                f"worst false block, {design}",
                max(c.nothing.blocked for c in cells if c.design == str(design)),
                FALSE_BLOCK_SMALL,
                unedited,
            )
            for design in (SMALL, STORED)
        ),
        goal("least coverage", min(s.covered for s in every), COVERAGE, little, at_least=True),
    ]
    for design, limit in POWER.items():
        power = by[str(design), "seed58"].minus_15.blocked
        name = f"power at -15 points, seed58, {design}"
        found.append(goal(name, power, limit, little, at_least=True))
    for mix in ONE_BROKE_MIXES:
        power = by[small, mix].one_broke.blocked
        name = f"one broken task, {mix}, {small}"
        found.append(goal(name, power, ONE_BROKE, edited, at_least=True))
    for design, limit in SPENT.items():
        # Coins are the worst there can be; they are shown, and nobody's suite.
        usual = [c for c in cells if c.design == str(design) and c.mix != "coin"]
        most = max((c.nothing for c in usual), key=lambda one: one.spent)
        name = f"most runs spent on nothing, {design}"
        ok = most.spent <= limit + NOISE_ALLOWED * most.spent_error
        found.append(Goal(name=name, limit=limit, found=most.spent, at_least=False, ok=ok))
    return found


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict_simulation")
    parser.add_argument("--quick", action="store_true", help="fewer experiments, under 45 s")
    quick = parser.parse_args().quick
    unedited, edited, comparisons = (300, 100, 200) if quick else (6000, 2000, 2000)

    print(f"{unedited} experiments without an edit, {edited} with each edit; % blocked")
    print(f"{'':<20}{'no edit':>18}{'':>10}{'-15 points':>18}{'one task broke':>18}")
    head = f"{'gate':>9}{'1 stage':>9}"
    print(f"{'suite':<12}{'mix':<10}{head}{'runs':>8}{head}{head}")
    cells = []
    for cell in simulate(unedited=unedited, edited=edited):
        parts = "".join(
            f"{one.blocked:>9.1%}{one.one_stage:>9.1%}" + extra
            for one, extra in (
                (cell.nothing, f"{cell.nothing.spent:>8.0%}"),
                (cell.minus_15, ""),
                (cell.one_broke, ""),
            )
        )
        print(f"{cell.design:<12}{cell.mix:<10}{parts}", flush=True)
        cells.append(cell)
    verdicts = goals(cells, unedited=unedited, edited=edited)
    signals = simulate_signals(comparisons, comparisons)
    verdicts += signal_goals(signals, comparisons)
    for one in verdicts:
        mark, way = "ok    " if one.ok else "MISSED", "at least" if one.at_least else "at most"
        print(f"{mark} {one.name}: {one.found:.1%}, {way} {one.limit:.1%}")
    ok = all(one.ok for one in verdicts)
    document = {
        "benchmark": "verdict_simulation",
        "quick": quick,
        "experiments": {"unedited": unedited, "edited": edited},
        "figures": [asdict(cell) for cell in cells],
        "signals": asdict(signals),
        "goals": [asdict(one) for one in verdicts],
        "ok": ok,
    }
    print(json.dumps(document))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

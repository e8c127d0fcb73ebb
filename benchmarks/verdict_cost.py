"""What a verdict's arithmetic costs: to import it, and to judge a large suite by it.

    python -m benchmarks.verdict_cost [--quick]

import: CPU of a process that imports `evalgate.core.statistics`, less that of a bare start of
Python; the two take turns. verdict: the suite's test, each task's and the interval, on a suite of
30 tasks with ten runs in each arm, drawn by a fixed seed. Both in milliseconds; the least of many
counts, since what else a machine does only adds to it.

Needs nothing but the package itself. The last line is one JSON object. Exit status: 0 when every
goal holds, 1 when one does not.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.goals import Goal, finish
from benchmarks.processes import cpu_of
from benchmarks.suites import Design, gate_of, seed58, unchanged
from evalgate.core.policy import Policy
from evalgate.core.rule import rule
from evalgate.core.statistics import pass_rate_difference

IMPORT_GOAL, VERDICT_GOAL = 15.0, 5.0
LARGE: Final = Design(tasks=30, base_runs=10, head_runs=10)


def import_ms(repeats: int) -> tuple[float, float]:
    """Return ms of CPU of a bare start of Python, and of one that imports the statistics."""
    folder = Path(__file__).parents[1]
    bare, whole = [], []
    for _ in range(repeats):
        bare.append(cpu_of([sys.executable, "-c", "pass"], folder))
        whole.append(cpu_of([sys.executable, "-c", "import evalgate.core.statistics"], folder))
    return min(bare), min(whole)


def verdict_ms(repeats: int) -> float:
    """Return ms of CPU of one verdict of the large suite."""
    rng = random.Random("verdict_cost")
    rates = [seed58(rng) for _ in range(LARGE.tasks)]
    counts = gate_of(rng, LARGE, rates, unchanged(rates)).round(LARGE.head_runs)
    found = []
    for _ in range(repeats):
        begun = time.process_time()
        rule(counts, Policy())
        pass_rate_difference(counts)
        found.append(1000 * (time.process_time() - begun))
    return min(found)


def main() -> int:
    """Print what was found, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict_cost")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    repeats = 20 if quick else 100
    bare, whole = import_ms(repeats)
    verdict = verdict_ms(repeats)
    print(f"a bare start of Python {bare:.1f} ms, with the statistics {whole:.1f} ms of CPU")
    goals = (
        Goal(name="import", found=whole - bare, limit=IMPORT_GOAL, unit="ms"),
        Goal(name=f"verdict of {LARGE}", found=verdict, limit=VERDICT_GOAL, unit="ms"),
    )
    figures = {"python_ms": bare, "import_ms": whole, "verdict_ms": verdict}
    return finish("verdict_cost", goals, quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())

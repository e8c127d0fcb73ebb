"""How often the gate is wrong on trials that were really made, not drawn from a law.

    python -m benchmarks.real_gates [--quick] [--collect ARM=CHECKOUT ...]

`real_trials.json` holds the outcomes of live trials of this repository's harness with three
prompts: *as it is*; asking for a *diff*, the demo's edit; and asking for one with an example that
*shows* it (`shown_diff.md`). Gates are dealt from them by `evalgate.core.dealing`, no trial twice,
and judged as a live gate is. With one prompt on both sides a block is false, else it is right.

`--collect` reads the outcomes from the live runs in checkouts and writes the file and the page
`docs/real-gates.md`. Seeds are fixed: the same table every time. The last line is one JSON object.
Exit status: 0 when every goal holds and the page shows this table, 1 otherwise.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.goals import Goal, finish
from benchmarks.real_trials import LEAST_TRIALS, RealTrials
from evalgate.core.dealing import dealt_outlook
from evalgate.core.policy import Policy

PAGE = Path(__file__).parents[1] / "docs/real-gates.md"
#: Trials of a task in the baseline, and planned ones of the head.
DESIGNS = ((5, 5), (20, 5), (20, 10), (20, 20))
#: The design that the power is promised for: seven tasks tell less than twelve, and want more runs.
PROMISED = (20, 20)
#: The prompt of base and head.
SAME = ("as-is", "as-is")
SMALL = ("as-is", "diff")
LARGE = ("as-is", "shown")
PAIRS = (SAME, SMALL, LARGE)
FALSE_BLOCK, POWER = 0.05, 0.90
#: What an edit costs of the pass rate for which the power is promised: 20 points, rounded.
PROMISED_DROP = 0.195
LEAST_TASKS = 6
BETWEEN = (0.20, 0.80)
#: Standard errors of the drawing by which a share of few gates may miss its goal.
NOISE_ALLOWED = 2.5

Found = Mapping[tuple[int, int], Mapping[tuple[str, str], float]]
"""Design -> pair of prompts -> share of gates that block."""


def dealt(real: RealTrials, gates: int) -> Found:
    """Return the shares of gates that block; both sides of one prompt are dealt from one deal."""
    passes = {arm: real.passes(arm) for arm in real.arms}
    return {
        (stored, planned): {
            (base, head): dealt_outlook(
                passes[base],
                passes[head],
                Policy(),
                stored=stored,
                planned=planned,
                gates=gates,
            ).blocked
            for base, head in PAIRS
        }
        for stored, planned in DESIGNS
    }


def rows_of_gates(real: RealTrials, found: Found, gates: int) -> Iterator[str]:
    """Say what the gates did, design by design."""
    yield f"{gates:,} gates a figure; share that blocks"
    names = ("no edit" if pair == SAME else " → ".join(pair) for pair in PAIRS)
    yield f"{'trials stored':>14}{'planned':>9}" + "".join(f"{name:>18}" for name in names)
    for (stored, planned), shares in found.items():
        row = "".join(f"{shares[pair]:>18.1%}" for pair in PAIRS)
        yield f"{stored:>14}{planned:>9}{row}"
    costs = "".join(f"{100 * gained(real, pair):>+11.1f} points" for pair in PAIRS)
    yield f"{'the edit costs':>23}{costs}"


def gained(real: RealTrials, pair: tuple[str, str]) -> float:
    """Return what the head's prompt adds to the mean pass rate; what it costs is below zero."""
    return real.mean(pair[1]) - real.mean(pair[0])


def page(real: RealTrials, table: str) -> str:
    """Return the page that shows what was measured and what the gates make of it."""
    return f"""# Gates on real trials

{real.total:,} live trials of this repository's own harness with {real.model} and three
prompts: as it is; with the edit that the demo judges ("Save tokens: answer with a unified diff");
and with that edit and an example of it as a turn of the conversation (`benchmarks/shown_diff.md`).
Tasks that the model nearly always or never solves as it is were left out beforehand. The prompts
were chosen by a few trials each, which do not count here: this model hardly heeds what one asks
for, and of some twenty edits only those with whole turns in them cost twenty points or more.

Gates are dealt from these trials, no trial twice, and judged as a live gate is: rounds, suspicion,
fresh runs of both sides.

```
{table}
```

Made by `python -m benchmarks.real_gates`; the outcomes are in `benchmarks/real_trials.json`.
"""


def goals_of(real: RealTrials, found: Found, *, gates: int, quick: bool) -> list[Goal]:
    """Return what is promised; a few gates may miss by what the drawing explains."""

    def slack(share: float) -> float:
        return NOISE_ALLOWED * math.sqrt(share * (1 - share) / gates) if quick else 0

    low, high = BETWEEN
    inside = sum(low <= rate <= high for rate in real.rates(SAME[0]).values())
    return [
        Goal(name="trials of each task", found=real.least, limit=LEAST_TRIALS, at_least=True),
        Goal(name="tasks between 20 and 80 %", found=inside, limit=LEAST_TASKS, at_least=True),
        Goal(
            name="worst false block, any design",
            found=max(shares[SAME] for shares in found.values()),
            limit=FALSE_BLOCK + slack(FALSE_BLOCK),
        ),
        Goal(
            name="what the large edit costs",
            found=-gained(real, LARGE),
            limit=PROMISED_DROP,
            at_least=True,
        ),
        Goal(
            name="large edit blocked, {} stored, {} planned".format(*PROMISED),
            found=found[PROMISED][LARGE],
            limit=POWER - slack(POWER),
            at_least=True,
        ),
    ]


def main() -> int:
    """Print the tables, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_gates")
    parser.add_argument("--quick", action="store_true", help="200 gates instead of 1,000")
    parser.add_argument("--collect", nargs="+", metavar="ARM=CHECKOUT")
    options = parser.parse_args()
    if options.collect:
        places = (one.partition("=") for one in options.collect)
        RealTrials.collect({arm: Path(place) for arm, _, place in places}).write()
    gates = 200 if options.quick else 1000
    real = RealTrials.load()
    found = dealt(real, gates)
    table = "\n".join((*real.rows(), "", *rows_of_gates(real, found, gates)))
    print(table)
    if options.collect:
        PAGE.write_text(page(real, table), encoding="utf-8")
    goals = goals_of(real, found, gates=gates, quick=options.quick)
    if not options.quick:
        shown = float(page(real, table) == PAGE.read_text(encoding="utf-8"))
        goals.append(Goal(name="the page shows it", found=shown, limit=1, at_least=True))
    figures = {
        f"{stored}/{planned}": {" → ".join(pair): share for pair, share in shares.items()}
        for (stored, planned), shares in found.items()
    }
    return finish("real_gates", goals, quick=options.quick, figures=figures)


if __name__ == "__main__":
    raise SystemExit(main())

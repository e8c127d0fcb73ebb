"""How often the gate is wrong on trials that were really made, not drawn from a law.

    python -m benchmarks.real_gates [--quick] [--collect BASE EDITED]

`real_trials.json` holds the outcomes of live trials of this repository's harness, and of the same
with the demo's edit of its prompt, task by task in the order in which they were made. Gates are
dealt from them by `evalgate.core.dealing`, no trial twice, and judged as a live gate is. With the
harness on both sides a block is a false one; with the edit at the head it is right.

`--collect` reads the outcomes from the live runs in two checkouts and writes the file and the page
`docs/real-gates.md`. Seeds are fixed: the same table every time. The last line is one JSON object.
Exit status: 0 when every goal holds and the page shows this table, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.goals import Goal, finish
from evalgate.core.dealing import dealt_outlook
from evalgate.core.policy import Policy
from evalgate.core.trial import Outcome
from evalgate.store.runs import RunFolder

PLACE = Path(__file__).with_name("real_trials.json")
PAGE = Path(__file__).parents[1] / "docs/real-gates.md"
#: Trials of a task in the baseline, and planned ones of the head.
DESIGNS = ((5, 5), (20, 5), (20, 10), (20, 20))
#: The design that the goals are for: a baseline accepted on purpose, and ten trials a task.
PROMISED = (20, 10)
FALSE_BLOCK, POWER = 0.05, 0.90
#: What an edit costs of the pass rate for which the power is promised.
PROMISED_DROP = 0.20
LEAST_TRIALS, LEAST_TASKS = 100, 6
BETWEEN = (0.20, 0.80)
#: Standard errors of the drawing by which a share of few gates may miss its goal.
NOISE_ALLOWED = 2.5

Outcomes = Mapping[str, str]
"""Task -> one character a trial: 1 passed, 0 did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """What was measured: the outcomes of both arms, and what made them."""

    model: str
    base: Outcomes
    edited: Outcomes

    @classmethod
    def load(cls) -> Real:
        """Read the committed outcomes."""
        value = json.loads(PLACE.read_text(encoding="utf-8"))
        return cls(model=value["model"], base=value["base"], edited=value["edited"])


def passes(outcomes: Outcomes) -> dict[str, list[bool]]:
    """Return whether each trial passed."""
    return {task: [one == "1" for one in known] for task, known in outcomes.items()}


def mean_rate(outcomes: Outcomes) -> float:
    """Return the mean of the tasks' pass rates."""
    return sum(known.count("1") / len(known) for known in outcomes.values()) / len(outcomes)


def rows(real: Real) -> Iterator[str]:
    """Say what was measured, task by task."""
    yield f"{'task':<24}{'base':>16}{'edited':>16}"
    for task, base in real.base.items():
        edited = real.edited[task]
        yield f"{task:<24}" + "".join(
            f"{known.count('1'):>6}/{len(known):<3}{known.count('1') / len(known):>6.0%}"
            for known in (base, edited)
        )
    before, after = mean_rate(real.base), mean_rate(real.edited)
    yield f"{'mean':<24}{before:>16.1%}{after:>16.1%}   ({100 * (after - before):+.1f} points)"


def collect(base: Path, edited: Path) -> None:
    """Write the outcomes of the live runs in two checkouts; errored trials are left out."""
    arms, models = dict[str, Outcomes](), set[str]()
    for name, place in (("base", base), ("edited", edited)):
        known: dict[str, str] = {}
        for folder in sorted((place / ".evalgate/runs").iterdir()):
            for trial in RunFolder(folder).trials:
                models |= {*trial.conditions.models}
                if trial.outcome is not Outcome.ERRORED:
                    passed = trial.outcome is Outcome.PASSED
                    known[trial.task] = known.get(trial.task, "") + str(int(passed))
        arms[name] = known
    both = [
        task
        for task in sorted(arms["base"])
        if min(len(arms[name].get(task, "")) for name in arms) >= LEAST_TRIALS
    ]
    outcomes = {name: {task: known[task] for task in both} for name, known in arms.items()}
    value = {"model": ", ".join(sorted(models)), **outcomes}
    PLACE.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def dealt(real: Real, gates: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the shares that block without and with the edit, by design."""
    base, edited = passes(real.base), passes(real.edited)
    found = {}
    for stored, planned in DESIGNS:
        nothing, edit = (
            dealt_outlook(base, head, Policy(), stored=stored, planned=planned, gates=gates)
            for head in (base, edited)
        )
        found[stored, planned] = (nothing.blocked, edit.blocked)
    return found


def rows_of_gates(
    found: Mapping[tuple[int, int], tuple[float, float]], gates: int
) -> Iterator[str]:
    """Say what the gates did, design by design."""
    yield f"{gates:,} gates a figure; share that blocks"
    yield f"{'trials stored':>14}{'planned':>9}{'no edit':>10}{'edited':>10}"
    for (stored, planned), (nothing, edit) in found.items():
        yield f"{stored:>14}{planned:>9}{nothing:>10.1%}{edit:>10.1%}"


def page(real: Real, table: str) -> str:
    """Return the page that shows what was measured and what the gates make of it."""
    trials = sum(map(len, [*real.base.values(), *real.edited.values()]))
    return f"""# Gates on real trials

{trials:,} live trials of this repository's own harness with {real.model}: as it is, and with the
edit of its prompt that the demo judges ("Save tokens: answer with a unified diff"). Tasks that the
model nearly always or never solves were left out beforehand, by trials that do not count here.
This model hardly heeds its prompt: of thirteen edits that were tried with a few trials each, asking
for a diff, for no code at all, or with examples of refusals, none cost twenty points in the end.
In the 160 trials by which it was chosen this one seemed to cost 26; these trials say what it costs.
So how often an edit is blocked that costs twenty points is not shown here, but by simulation alone.

Gates are dealt from these trials, no trial twice, and judged as a live gate is: rounds, suspicion,
fresh runs of both sides.

```
{table}
```

Made by `python -m benchmarks.real_gates`; the outcomes are in `benchmarks/real_trials.json`.
"""


def main() -> int:
    """Print the tables, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_gates")
    parser.add_argument("--quick", action="store_true", help="200 gates instead of 1,000")
    parser.add_argument("--collect", nargs=2, type=Path, metavar=("BASE", "EDITED"))
    options = parser.parse_args()
    if options.collect:
        collect(*options.collect)
    gates = 200 if options.quick else 1000
    real = Real.load()
    found = dealt(real, gates)
    table = "\n".join((*rows(real), "", *rows_of_gates(found, gates)))
    print(table)
    if options.collect:
        PAGE.write_text(page(real, table), encoding="utf-8")
    low, high = BETWEEN
    rates = [known.count("1") / len(known) for known in real.base.values()]
    noise = NOISE_ALLOWED * math.sqrt(POWER * (1 - POWER) / gates)
    slack = NOISE_ALLOWED * math.sqrt(FALSE_BLOCK * (1 - FALSE_BLOCK) / gates)
    least = min(map(len, [*real.base.values(), *real.edited.values()]))
    inside = sum(low <= rate <= high for rate in rates)
    goals = [
        Goal(name="trials of each task", found=least, limit=LEAST_TRIALS, at_least=True),
        Goal(name="tasks between 20 and 80 %", found=inside, limit=LEAST_TASKS, at_least=True),
        Goal(
            name="worst false block, any design",
            found=max(nothing for nothing, _ in found.values()),
            limit=FALSE_BLOCK + (slack if options.quick else 0),
        ),
    ]
    lost = mean_rate(real.base) - mean_rate(real.edited)
    if lost >= PROMISED_DROP:
        goals.append(
            Goal(
                name="edit that hurts blocked, {} stored, {} planned".format(*PROMISED),
                found=found[PROMISED][1],
                limit=POWER - (noise if options.quick else 0),
                at_least=True,
            )
        )
    else:
        told = f"{100 * PROMISED_DROP:g} points or more: this one costs {100 * lost:.1f}"
        print(f"not measured: how often an edit is blocked that costs {told}")
    if not options.quick:
        shown = float(page(real, table) == PAGE.read_text(encoding="utf-8"))
        goals.append(Goal(name="the page shows it", found=shown, limit=1, at_least=True))
    figures = {f"{stored}/{planned}": shares for (stored, planned), shares in found.items()}
    return finish("real_gates", goals, quick=options.quick, figures=figures)


if __name__ == "__main__":
    raise SystemExit(main())

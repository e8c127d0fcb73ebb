"""The outcomes of live trials that were really made, by the prompt of the harness."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.core.trial import Outcome
from evalgate.store.runs import RunFolder

PLACE = Path(__file__).with_name("real_trials.json")
#: An arm has at least so many trials of every task.
LEAST_TRIALS = 100

Outcomes = Mapping[str, str]
"""Task -> one character a trial, in the order in which they were made: 1 passed, 0 did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealTrials:
    """What was measured: the outcomes of every arm, and the model that made them."""

    model: str
    arms: Mapping[str, Outcomes]

    @classmethod
    def load(cls) -> RealTrials:
        """Read the committed outcomes."""
        return cls(**json.loads(PLACE.read_text(encoding="utf-8")))

    @classmethod
    def collect(cls, places: Mapping[str, Path]) -> RealTrials:
        """Read the live runs in a checkout for each arm; errored trials are left out."""
        models, arms = set[str](), dict[str, dict[str, str]]()
        for arm, place in places.items():
            known = arms.setdefault(arm, {})
            for folder in sorted((place / ".evalgate/runs").iterdir()):
                for trial in RunFolder(folder).trials:
                    models |= {*trial.conditions.models}
                    if trial.outcome is not Outcome.ERRORED:
                        passed = trial.outcome is Outcome.PASSED
                        known[trial.task] = known.get(trial.task, "") + str(int(passed))
        tasks = [
            task
            for task in sorted(set.intersection(*(set(known) for known in arms.values())))
            if min(len(known[task]) for known in arms.values()) >= LEAST_TRIALS
        ]
        kept = {arm: {task: known[task] for task in tasks} for arm, known in arms.items()}
        return cls(model=", ".join(sorted(models)), arms=kept)

    def write(self) -> None:
        """Write them where they are committed."""
        value = {"model": self.model, "arms": self.arms}
        PLACE.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

    @property
    def total(self) -> int:
        """How many trials there are."""
        return sum(len(known) for outcomes in self.arms.values() for known in outcomes.values())

    @property
    def least(self) -> int:
        """How many trials the task with the fewest has."""
        return min(len(known) for outcomes in self.arms.values() for known in outcomes.values())

    def passes(self, arm: str) -> dict[str, Sequence[bool]]:
        """Return whether each trial of an arm passed, by task."""
        return {task: [one == "1" for one in known] for task, known in self.arms[arm].items()}

    def rates(self, arm: str) -> dict[str, float]:
        """Return the pass rate of each task."""
        return {task: _rate(known) for task, known in self.arms[arm].items()}

    def mean(self, arm: str) -> float:
        """Return the mean of the tasks' pass rates."""
        rates = self.rates(arm)
        return sum(rates.values()) / len(rates)

    def rows(self) -> Iterator[str]:
        """Say what was measured, task by task."""
        yield f"{'task':<24}" + "".join(f"{arm:>18}" for arm in self.arms)
        for task in next(iter(self.arms.values())):
            yield f"{task:<24}" + "".join(
                f"{known[task].count('1'):>8}/{len(known[task]):<3}{_rate(known[task]):>6.0%}"
                for known in self.arms.values()
            )
        yield f"{'mean':<24}" + "".join(f"{self.mean(arm):>18.1%}" for arm in self.arms)


def _rate(known: str) -> float:
    return known.count("1") / len(known)

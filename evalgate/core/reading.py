"""Which trials of a run a person should read: surprising passes first, then what is drawn."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.trial import Outcome, Trial

#: So many trajectories are read where nobody says otherwise.
SAMPLE: Final = 5

#: A pass is rare where no more than this share of its task's measured trials passed.
_RARE: Final = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One trial to be read, and why it was chosen."""

    trial: Trial
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readership:
    """How many trials of a sample were read: ``of`` so many that should be, ``by`` whom."""

    of: int
    read: int
    by: Mapping[str, int]

    @property
    def sentence(self) -> str:
        """Say it in a few words."""
        names = ", ".join(f"{who} {number}" for who, number in self.by.items())
        told = f"{self.read} of {max(self.of, self.read)} read"
        return f"{told} ({names})" if names else told

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"of": self.of, "read": self.read, "by": dict(self.by)}


def trial_name(fingerprint: str, task: str, n: int, cassette: str) -> str:
    """Return what tells a trial from others in every run: its recording, or its place."""
    return cassette or f"{fingerprint}:{task}:{n}"


def reading_list(
    trials: Sequence[Trial], *, sample: int, seed: str, new: Sequence[str] = ()
) -> tuple[Reading, ...]:
    """Return so many trials, the same for everybody with this seed.

    Passes that surprise come first, the oddest in front; what is left is drawn from all others.
    ``new`` names tasks that nothing had passed before.
    """
    measured, passed = Counter[str](), Counter[str]()
    for trial in trials:
        measured[trial.task] += trial.outcome is not Outcome.ERRORED
        passed[trial.task] += trial.outcome is Outcome.PASSED
    dice = random.Random(seed)  # noqa: S311 - the same for everybody who reads
    shuffled = sorted(trials, key=lambda one: (one.task, one.key.n))
    dice.shuffle(shuffled)
    odd: list[tuple[int, Reading]] = []
    others = []
    for trial in shuffled:
        rank, why = _surprise(trial, passed[trial.task], measured[trial.task], new)
        if why:
            odd.append((rank, Reading(trial=trial, why=why)))
        else:
            others.append(Reading(trial=trial, why="drawn"))
    odd.sort(key=lambda one: one[0])  # those of one rank stay as they were drawn
    return tuple([one for _, one in odd] + others)[:sample]


def _surprise(trial: Trial, passed: int, measured: int, new: Sequence[str]) -> tuple[int, str]:
    if trial.outcome is not Outcome.PASSED:
        return 0, ""
    if trial.tripwires:
        return 0, f"passed, and touched the tripwire {trial.tripwires[0].name}"
    if trial.task in new:
        return 1, "passed, and its task never passed before"
    if not trial.patch:
        return 2, "passed, and changed nothing"
    if trial.signals.files_outside:
        return 3, "passed, and touched files that nobody expected"
    if passed <= measured * _RARE:
        return 4, f"passed, as {passed} of {counted(measured, 'trial')} of its task did"
    return 0, ""


def readership(sample: Sample, reads: Mapping[str, Sequence[str]]) -> Readership:
    """Count how many trials of a sample were read; ``reads`` maps a trial's name to who read it."""
    names = {
        trial_name(sample.fingerprint, task.task, row.n, row.cassette)
        for task in sample.tasks.values()
        for row in task.rows
    }
    by = Counter(who for name in names for who in dict.fromkeys(reads.get(name, ())))
    return Readership(
        of=min(SAMPLE, len(names)),
        read=sum(name in reads for name in names),
        by=dict(sorted(by.items())),
    )

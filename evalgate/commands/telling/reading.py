"""`evalgate read`: a few trials of a run, one after another, and who has read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import Project
from evalgate.commands.telling.here import Here, here_of
from evalgate.commands.telling.named_trials import find_trials, name_trial, unfinished
from evalgate.commands.telling.show import tell_trial
from evalgate.core.json import Json
from evalgate.core.reading import (
    Readership,
    Reading,
    readership,
    reading_list,
    trial_name,
)
from evalgate.core.sample import sample_of
from evalgate.core.trial import Trial
from evalgate.repo.user import user_name
from evalgate.report.trial_story import LONG
from evalgate.store.reads import add_read, load_reads
from evalgate.store.runs import RunFolder, RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ToRead:
    """One trial of the list; ``text`` tells it from the question to the end."""

    place: str
    trial: Trial
    why: str
    text: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"place": self.place, "outcome": str(self.trial.outcome), "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingList:
    """What should be read of a run, and what has been."""

    project: Project
    run: RunFolder
    trials: tuple[Trial, ...]
    items: tuple[ToRead, ...]

    @property
    def read(self) -> Readership:
        """How many of the run's trials were read so far, by whom."""
        first = self.trials[0]
        sample = sample_of(self.trials, fingerprint=first.key.fingerprint, evidence=first.evidence)
        return readership(sample, load_reads(self.project.state))

    @property
    def text(self) -> str:
        """Everything, one after another."""
        parts = [self.heading(number) + "\n" + one.text for number, one in enumerate(self.items)]
        warned = filter(None, [self.warning])
        return "\n\n".join([*warned, *parts, f"{self.read.sentence}; at a terminal a key says so"])

    @property
    def warning(self) -> str:
        """What to know before reading: that the run is not finished; empty where it is."""
        said = unfinished(self.run)
        return f"⚠ {said}" if said else ""

    def heading(self, number: int) -> str:
        """Return the line above one of the list, counted from 0."""
        one = self.items[number]
        return f"[{number + 1}/{len(self.items)}] {one.place}: {one.why}"

    def mark(self, one: ToRead) -> None:
        """Keep that the user of git here has read it."""
        add_read(self.project.state, _name(one.trial), user_name(self.project.git))

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "run": self.run.id,
            "unfinished": unfinished(self.run),
            "sample": [one.to_json() for one in self.items],
            "read": self.read.to_json(),
        }


def read(project: Project, name: str, *, sample: int, seed: str) -> ReadingList:
    """Return so many trials of ``RUN[:TASK[:N]]`` to be read; UsageError when there is none.

    Without a ``seed`` the harness is it: everybody who reads it reads the same.
    """
    named = find_trials(RunStore(project.state), name)
    run, trials = named.run, named.trials
    here = here_of(project)
    seed = seed or trials[0].key.fingerprint
    chosen = reading_list(trials, sample=sample, seed=seed, new=_never_passed(here, trials))
    items = tuple(_to_read(run, one, here.shelf) for one in chosen)
    return ReadingList(project=project, run=run, trials=trials, items=items)


def _never_passed(here: Here, trials: tuple[Trial, ...]) -> list[str]:
    """Return the tasks that no baseline knows a pass of, and one knows."""
    known = [task for one in here.baselines for task in one.sample.tasks.values()]
    measured = {task.task for task in known if task.measured}
    passed = {task.task for task in known if task.passed}
    return sorted({trial.task for trial in trials} & measured - passed)


def _to_read(run: RunFolder, one: Reading, shelf: Path | None) -> ToRead:
    trial = one.trial
    text = tell_trial(run, trial, shelf, others=run.trials, detail=LONG)
    return ToRead(place=name_trial(run, trial), trial=trial, why=one.why, text=text)


def _name(trial: Trial) -> str:
    return trial_name(trial.key.fingerprint, trial.task, trial.key.n, trial.cassette)

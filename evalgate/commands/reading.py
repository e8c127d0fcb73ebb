"""`evalgate read`: a few trials of a run, one after another, and who has read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.named_trials import find_trials, name_trial
from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.commands.show import show
from evalgate.commands.trial_page import read_page
from evalgate.core.json import Json
from evalgate.core.reading import (
    Readership,
    Reading,
    readership,
    reading_list,
    trial_name,
)
from evalgate.core.sample import sample_of
from evalgate.core.trajectory import Step
from evalgate.core.trial import Trial
from evalgate.errors import UsageError
from evalgate.repo.user import user_name
from evalgate.report.trial_page import TrialPage
from evalgate.store.reads import add_read, load_reads
from evalgate.store.runs import RunFolder, RunStore

#: So many lines of one text are shown, and so many signs of what a call was given.
_LINES = 30
_OUTPUT = 12
_INPUT = 400


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
        return "\n\n".join([*parts, f"{self.read.sentence}; at a terminal a key says so"])

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
            "sample": [one.to_json() for one in self.items],
            "read": self.read.to_json(),
        }


def read(project: Project, name: str, *, sample: int, seed: str) -> ReadingList:
    """Return so many trials of ``RUN[:TASK[:N]]`` to be read; UsageError when there is none.

    Without a ``seed`` the harness is it: everybody who reads it reads the same.
    """
    named = find_trials(RunStore(project.state), name)
    run, trials = named.run, named.trials
    shelf, new = _known(project, trials)
    seed = seed or trials[0].key.fingerprint
    chosen = reading_list(trials, sample=sample, seed=seed, new=new)
    items = tuple(_to_read(project, run, one, shelf) for one in chosen)
    return ReadingList(project=project, run=run, trials=trials, items=items)


def _known(project: Project, trials: tuple[Trial, ...]) -> tuple[Path | None, list[str]]:
    """Return where recordings lie, and the tasks that no baseline knows a pass of."""
    tasks = {trial.task for trial in trials}
    try:
        with open_state(project, WORKTREE) as state:
            samples = [one.sample for one in state.baselines()]
            shelf = state.shelf.folder
    except UsageError:  # the run can be read all the same
        return None, []
    measured = {name for one in samples for name, task in one.tasks.items() if task.measured}
    passed = {name for one in samples for name, task in one.tasks.items() if task.passed}
    return shelf, sorted(tasks & measured - passed)


def _to_read(project: Project, run: RunFolder, one: Reading, shelf: Path | None) -> ToRead:
    trial = one.trial
    place = name_trial(run, trial)
    page = read_page(run, trial, shelf, wire=False)
    text = "\n".join([*_trajectory(page), show(project, place)])
    return ToRead(place=place, trial=trial, why=one.why, text=text)


def _name(trial: Trial) -> str:
    return trial_name(trial.key.fingerprint, trial.task, trial.key.n, trial.cassette)


def _trajectory(page: TrialPage) -> Iterator[str]:
    yield from (f"  {note}" for note in page.lacking)
    if page.trajectory.opening.prompt:
        yield "  it was asked:"
        yield from _indented(page.trajectory.opening.prompt, _LINES)
    for number, step in enumerate(page.trajectory.steps, 1):
        yield from _step(number, step)


def _step(number: int, step: Step) -> Iterator[str]:
    yield f"  step {number}:"
    yield from _indented(step.text, _LINES)
    for call in step.calls:
        given = call.input if isinstance(call.input, str) else json.dumps(call.input)
        failed = " (failed)" if call.ok is False else ""
        cut = "…" if len(given) > _INPUT else ""
        yield f"    calls {call.name} {given[:_INPUT]}{cut}{failed}"
        yield from (f"    {line}" for line in _indented(call.output or "", _OUTPUT))


def _indented(text: str, most: int) -> Iterator[str]:
    lines = text.splitlines()
    yield from (f"    {line}" for line in lines[:most])
    if len(lines) > most:
        yield f"    … {len(lines) - most} more lines"

"""What the agent did in single trials of one harness, from their recordings or their runs here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evalgate.commands.project import State
from evalgate.commands.recordings import find_recordings
from evalgate.commands.telling.named_trials import name_trial
from evalgate.core.sample import Row
from evalgate.core.trajectory import Trajectory
from evalgate.core.trial import Outcome, Signals, Trial
from evalgate.errors import UsageError
from evalgate.gateway.witness.witness import witness_of
from evalgate.runner.recorded import RecordedTrial
from evalgate.store.atif_reading import load_atif
from evalgate.store.runs import RunFolder, RunStore

_Identity = tuple[str, Outcome, Signals]


@dataclass(frozen=True, kw_only=True)
class Courses:
    """The trials of one harness whose course can be told; read once, when asked."""

    state: State
    fingerprint: str

    def of(self, task: str, rows: Iterable[Row]) -> Trajectory | None:
        """Return the course of the first of some rows of a task that is known here."""
        for row in rows:
            recorded = self._recorded.get(row.cassette)
            if recorded is not None:
                return witness_of(recorded.tape.exchanges).trajectory
            for run, trial in self._made.get(_identity(task, row.outcome, row.signals), ()):
                path = run.artifacts / trial.artifacts / "trajectory.json"
                try:
                    return load_atif(path.read_text(encoding="utf-8"), name=str(path))
                except (OSError, UsageError):  # graded again, cleaned away, or of another program
                    continue
        return None

    def name_of(self, task: str, rows: Iterable[Row]) -> str:
        """Return the name under which one of some rows is shown here, as ``RUN:TASK:N``.

        Empty where none of them was made or graded in a run of this clone.
        """
        for row in rows:
            for run, trial in self._made.get(_identity(task, row.outcome, row.signals), ()):
                return name_trial(run, trial)
        return ""

    @cached_property
    def _recorded(self) -> Mapping[str, RecordedTrial]:
        try:
            trials = find_recordings(self.state, self.fingerprint).trials
        except UsageError:  # a page is worse without its calls, and not wrong
            return {}
        return {one.tape.digest: one for many in trials.values() for one in many}

    @cached_property
    def _made(self) -> Mapping[_Identity, Sequence[tuple[RunFolder, Trial]]]:
        found: dict[_Identity, list[tuple[RunFolder, Trial]]] = {}
        for run, trial in RunStore(self.state.project.state).trials_of(self.fingerprint):
            name = _identity(trial.task, trial.outcome, trial.signals)
            found.setdefault(name, []).append((run, trial))
        return found


def _identity(task: str, outcome: Outcome, signals: Signals) -> _Identity:
    """Return what tells a trial from others; what it cost depends on whose prices are taken."""
    return task, outcome, replace(signals, cost_usd=None)

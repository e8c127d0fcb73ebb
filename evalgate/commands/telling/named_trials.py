"""The trials that somebody names as ``RUN[:TASK[:N]]``."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.core.rates import counted
from evalgate.core.trial import Trial
from evalgate.errors import UsageError
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTrials:
    """A run, and those of its finished trials that were asked for; ``task`` is empty for all.

    ``missing`` are tasks and numbers of the trials that were asked for and not made.
    """

    run: RunFolder
    task: str
    trials: tuple[Trial, ...]
    missing: tuple[tuple[str, int], ...] = ()


def name_trial(run: RunFolder, trial: Trial) -> str:
    """Return the name under which a trial of a run is found."""
    return f"{run.id}:{trial.task}:{trial.key.n}"


def unfinished(run: RunFolder) -> str:
    """Say that a run is not finished, and how to go on; empty where it is."""
    if run.info.get("finished"):
        return ""
    plan = run.plan
    many = counted(len(plan.trials), "trial")
    how = "the command that made it goes on where it stopped"
    if plan.kind in {Kind.REPLAY, Kind.REGRADE}:
        how = "the command that made it begins anew, which asks no model"
    if run.info.get("abandoned"):
        how = "it was given up for a run that was begun anew"
    why = f" ({run.info['stopped']})" if run.info.get("stopped") else ""
    return f"this run is not finished: {len(run.trials)} of {many} made{why}; {how}"


def find_trials(store: RunStore, name: str) -> NamedTrials:
    """Return what ``RUN[:TASK[:N]]`` names; UsageError when there is no such trial."""
    run_name, _, rest = name.partition(":")
    task, _, number = rest.rpartition(":")
    if not number.isdecimal() or not task:
        task, number = rest, ""
    run = store.find(run_name)
    trials = [t for t in run.trials if not task or t.task == task]
    trials = [t for t in trials if not number or t.key.n == int(number)]
    if not trials:
        state = f"holds no trial of {rest}" if rest else "holds no finished trial yet"
        message = f"run {run.id} {state}"
        hint = f"evalgate show {run.id} lists its tasks" if run.trials else unfinished(run)
        raise UsageError(message, hint=hint)
    return NamedTrials(
        run=run, task=task, trials=tuple(trials), missing=() if number else _missing(run, task)
    )


def _missing(run: RunFolder, task: str) -> tuple[tuple[str, int], ...]:
    """Return what an unfinished run would still make, all of it or of a task."""
    if run.info.get("finished"):
        return ()
    made = {(trial.task, trial.key.n) for trial in run.trials}
    wanted = [(one.task, one.n) for one in run.plan.trials if not task or one.task == task]
    return tuple(one for one in wanted if one not in made)

"""`evalgate baseline accept`: make a run the committed numbers of its harness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evalgate import __version__
from evalgate.commands.baselines.experiment import meant
from evalgate.commands.baselines.proof import disagreeing
from evalgate.commands.console import Console
from evalgate.commands.making.pricing import repriced
from evalgate.commands.project import WORKTREE, Project, State, open_state
from evalgate.commands.recordings import find_recordings
from evalgate.core.baseline import Baseline, Provenance, pool
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.reading import readership
from evalgate.core.run_plan import RunPlan
from evalgate.core.sample import Sample, new_rows, sample_of, without_retried
from evalgate.core.task import suite_digest
from evalgate.core.trial import Evidence, Trial
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.store.baselines import FOLDER, dump_baseline
from evalgate.store.ledger import FOLDER as LEDGER
from evalgate.store.ledger import dump_ledger
from evalgate.store.reads import load_reads
from evalgate.store.runs import RunFolder, RunStore, began
from evalgate.wiring import Kind

#: A baseline is compared with for a long time: so many trials of each task make it a steady one.
ENOUGH = 20


def accept(
    project: Project,
    name: str,
    console: Console,
    *,
    reason: str = "",
    fewest: int = ENOUGH,
    hypothesis: str = "",
    supersede: bool = False,
) -> str:
    """Write a run's numbers as a baseline and a ledger entry; return the file's path.

    Live trials of a harness that has no recordings are taken with those of all its other runs
    that were made here under equal conditions: nobody chooses the run that came out best, and
    the rounds of a live gate are one sample. Refuses a run that is not finished or was made to
    confirm a suspicion, and trials that do not cover the suite or errored too often.

    Live trials are refused that come to fewer than ``fewest`` of a task, together with those of
    the harness's baselines that they are pooled with. Recordings are taken as they are: how many
    of them there are was settled when they were made.

    With ``supersede`` it takes the place of the harness's baselines: of its runs here those are
    taken that began after the newest of them. Without, numbers that can not be of the same
    harness by chance are refused, as a gate would refuse them.
    """
    run = RunStore(project.state).find(name)
    if not run.info.get("finished"):
        message = f"run {run.id} is not finished"
        raise UsageError(message, hint="repeat its command: it goes on where it stopped")
    if run.plan.kind == Kind.CONFIRM:
        message = f"run {run.id} was made to check other trials, and is no measurement of its own"
        raise UsageError(message, hint="evalgate show lists the runs: name one of the harness")
    with open_state(project, WORKTREE) as state:
        found = candidate(state, run, supersede=supersede)
        if len(found.runs) > 1:
            number = len(found.runs)
            console.note(
                f"taken together: the {counted(number, 'live run')} of this harness made here"
            )
        baseline = found.baseline
        _require_enough(state, found, fewest, console)
        apart = disagreeing(baseline, state)
        if apart:
            hint = f"evalgate baseline accept {run.id} --supersede: they take the older ones' place"
            raise UsageError(apart[0], hint=hint)
        hoped, changed = meant(state, baseline.sample.fingerprint)
    path = project.root / FOLDER / baseline.filename
    if path.exists():
        console.note(f"{path.name} exists already: the same numbers")
        return str(path)
    date = baseline.provenance.day
    ledger = project.root / LEDGER / f"{date}-{path.name}"
    write_whole(path, dump_baseline(baseline))
    by = readership(baseline.sample, load_reads(project.state)).by
    entry = {**_entry(baseline, run, reason), "hypothesis": hypothesis or hoped, "read": dict(by)}
    write_whole(ledger, dump_ledger({**entry, "changed": changed}))
    many = len(baseline.supersedes)
    place = f", in the place of {many} older" if many else ""
    console.note(f"wrote baselines/{path.name}{place}, and its ledger entry: commit both")
    return str(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Numbers that may become a baseline, and the runs they are of; recorded ones are of one."""

    baseline: Baseline
    runs: tuple[RunFolder, ...]
    recorded: bool


def candidate(state: State, run: RunFolder, *, supersede: bool = False) -> Candidate:
    """Return the baseline that a run's numbers would make, with all that belongs to them.

    With ``supersede`` one that takes the place of all that the harness has.

    Raises:
        UsageError: they can be none.
    """
    if run.plan.judges:
        message = f"run {run.id} was judged by a gate's base, which asks judges elsewhere"
        raise UsageError(message, hint="evalgate run measures the harness by its own judges")
    recordings = find_recordings(state, run.plan.fingerprint)
    if recordings.copies:
        message = f"one recording stands for several trials: {recordings.copies[0]}"
        raise UsageError(message, hint="record the harness: evalgate run --record --again")
    recorded = bool(recordings.trials)
    older = state.baselines(run.plan.fingerprint) if supersede else ()
    since = max((one.provenance.time for one in older), default=None)
    runs = (run,) if recorded else tuple(_alike(state.project, run, since))
    trials = without_retried([_at_own_prices(state, one) for one in runs])
    if len(runs) > 1:  # some may be of tasks as they were
        digests = {task.id: task.digest for task in state.tasks}
        trials = tuple(one for one in trials if digests.get(one.task) == one.key.task_digest)
    baseline = _baseline(state, run, trials)
    if older:
        _require_new(run, baseline.sample, older)
        baseline = replace(baseline, supersedes=tuple(sorted(one.digest for one in older)))
    return Candidate(baseline=baseline, runs=runs, recorded=recorded)


def _require_new(run: RunFolder, sample: Sample, older: Sequence[Baseline]) -> None:
    """Refuse to put a baseline in the place of others that hold trials of it already."""
    for name, task in sample.tasks.items():
        known = [
            row for one in older if name in one.sample.tasks for row in one.sample.tasks[name].rows
        ]
        if len(new_rows(known, task.rows)) < len(task.rows):
            message = f"run {run.id} has trials that the baseline holds which it would supersede"
            raise UsageError(message, hint="evalgate baseline renew --live measures it anew")


def _at_own_prices(state: State, run: RunFolder) -> tuple[Trial, ...]:
    """Return a run's trials; what a gate made at its base's prices is counted at its own."""
    plan = run.plan
    if not plan.prices or plan.fingerprint != state.fingerprint.digest:
        return run.trials
    return tuple(repriced(trial, run, state.harness) for trial in run.trials)


def _alike(project: Project, run: RunFolder, since: datetime | None) -> list[RunFolder]:
    """Return the live runs made here that say as much of the harness as this one, itself too.

    Of the others those that began later than ``since``, where that is given.
    """
    plan = run.plan
    if plan.kind != Kind.RUN:
        return [run]
    conditions = _sample(run).conditions
    return [
        one
        for one in RunStore(project.state).finished()
        if one.id == run.id
        or (
            _equal(one.plan) == _equal(plan)
            and (since is None or began(one) > since)
            and not _sample(one).conditions.differences(conditions)
        )
    ]


def _equal(plan: RunPlan) -> tuple[str, ...]:
    """Return what the plans of runs have in common whose trials are one sample."""
    return plan.kind, plan.fingerprint, plan.tripwires


def _sample(run: RunFolder) -> Sample:
    plan = run.plan
    return sample_of(run.trials, fingerprint=plan.fingerprint, evidence=plan.evidence)


def _baseline(state: State, run: RunFolder, trials: tuple[Trial, ...]) -> Baseline:
    plan = run.plan
    kinds = {plan.evidence, *(trial.evidence for trial in trials)}
    if Evidence.TOPPED_UP in kinds:
        done = "has" if any(trial.topped_up for trial in trials) else "might have"
        message = f"run {run.id} is a replay that the model of today {done} topped up"
        raise UsageError(message, hint="record the harness: evalgate run --record --again")
    if Evidence.FAULTED in kinds:
        message = f"run {run.id} was made under faults"
        raise UsageError(message, hint="its numbers say nothing about a harness in good weather")
    # By the trials themselves: a regrade plans every task, and has those its source had.
    made = {trial.task: trial.key.task_digest for trial in trials}
    missing = sorted(task.id for task in state.tasks if made.get(task.id) != task.digest)
    if missing:
        message = f"run {run.id} does not cover: {', '.join(missing)}"
        raise UsageError(message, hint="a baseline takes the whole suite, as it is now")
    recordings = find_recordings(state, plan.fingerprint)
    sample = sample_of(
        trials,
        fingerprint=plan.fingerprint,
        evidence=plan.evidence,
        recordings=max(1, recordings.count),
    )
    if state.config.policy.not_measured(sample.errored, len(trials)):
        message = f"{sample.errored} of {counted(len(trials), 'trial')} of run {run.id} errored"
        raise UsageError(message, hint="what was not measured can not be a baseline")
    if plan.fingerprint == state.fingerprint.digest:
        _refuse_scripted(state, run, sample)
    tip = state.project.git.lookup("HEAD^{commit}")[0]
    return Baseline(
        sample=sample,
        parts=plan.parts,
        suite=suite_digest(state.tasks),
        provenance=Provenance(
            evalgate=__version__,
            commit=tip or "",
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            recordings=sample.recordings,
        ),
    )


def trials_at_hand(state: State, baseline: Baseline) -> int:
    """Return how often each task was measured at least, by it and the baselines it joins."""
    pooled = pool([*state.baselines(baseline.sample.fingerprint), baseline]) or baseline.sample
    return min((len(task.measured) for task in pooled.tasks.values()), default=0)


def _require_enough(state: State, found: Candidate, fewest: int, console: Console) -> None:
    fingerprint = found.baseline.sample.fingerprint
    there = trials_at_hand(state, found.baseline)
    if found.recorded:
        if there < ENOUGH:
            more = f"{ENOUGH} show smaller drops (evalgate run --record --again -k {ENOUGH})"
            console.note(f"{counted(there, 'recorded trial')} a task: {more}")
        return
    if there >= fewest:
        return
    message = f"there are {counted(there, 'trial')} a task, and a baseline takes {fewest}"
    rev = "" if fingerprint == state.fingerprint.digest else " --rev REV"
    hint = (
        f"evalgate run{rev} -k {fewest - there} makes the rest, then this again;"
        f" -k {max(there, 1)} accepts what there is"
    )
    raise UsageError(message, hint=hint)


def _refuse_scripted(state: State, run: RunFolder, sample: Sample) -> None:
    odd = state.config.unplanned(sample.conditions.models)
    if odd:
        message = f"run {run.id} is scripted ({', '.join(odd)}), and this harness asks a model"
        hint = "a scripted run is no baseline for a real model: measure it with its upstream"
        raise UsageError(message, hint=hint)


def _entry(baseline: Baseline, run: RunFolder, reason: str) -> dict[str, Json]:
    sample = baseline.sample
    return {
        "fingerprint": sample.fingerprint,
        "baseline": baseline.filename,
        "decision": "accepted",
        "reason": reason,
        "run": run.id,
        "evidence": str(sample.evidence),
        "recordings": sample.recordings,
        "date": str(baseline.provenance.day),
        "commit": baseline.provenance.commit,
        "parts": dict(baseline.parts),
        "passed": {name: task.passed for name, task in sample.tasks.items()},
        "measured": {name: len(task.measured) for name, task in sample.tasks.items()},
    }

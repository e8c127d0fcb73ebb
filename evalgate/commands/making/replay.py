"""`evalgate replay` and `evalgate regrade`: the recorded trials again, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.console import Console
from evalgate.commands.faults import announce_plan, open_plan, report_faults
from evalgate.commands.making.budget import budget_of, require_prices
from evalgate.commands.making.ended import Finished, Report
from evalgate.commands.making.reproduction import not_measured_here, not_reproduced
from evalgate.commands.making.stale import replay_stale, require_stale
from evalgate.commands.making.trials import (
    Request,
    default_workers,
    make_trials,
)
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.recordings import Recordings, find_recordings
from evalgate.commands.telling.named_trials import find_trials
from evalgate.core.decision import worst
from evalgate.core.harness import Harness
from evalgate.core.limits import Allowance
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence
from evalgate.errors import DivergedError, ExitCode, UsageError
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.recorded import load_recorded
from evalgate.runner.run import Job
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What the command line says; ``run`` names a run whose own recordings are used."""

    kind: Kind
    rev: str | None = None
    tasks: Sequence[str] = ()
    workers: int | None = None
    run: str | None = None
    faults: str | None = None
    allow_stale: Sequence[str] = ()
    record_missing: int | None = None
    pace: float = 0.0

    @property
    def beside_stale(self) -> list[str]:
        """The options given that say nothing to a plumbing test."""
        given = {
            "--faults": self.faults is not None,
            "--record-missing": self.record_missing is not None,
            "--pace": self.pace > 0,
        }
        return [option for option, said in given.items() if said]


def replay(project: Project, options: ReplayOptions, console: Console) -> Report:
    """Make the recorded trials again.

    Exit 7 when a request was not recorded or only stale recordings exist, 6 when numbers
    differ from the recorded ones. Under faults nothing counts, and the codes are those of
    `report_faults`.
    """
    plan = None if options.faults is None else open_plan(options.faults)
    with open_state(project, subject_of(options.rev)) as state:
        harness = state.harness
        tasks = state.selected(options.tasks)
        if options.run is not None:
            jobs = _jobs_of_run(project, options.run, harness, tasks)
        else:
            recordings = find_recordings(state, harness.fingerprint)
            if options.allow_stale:
                own = bool(recordings.trials)
                allowed, beside = options.allow_stale, options.beside_stale
                require_stale(harness, allowed, recorded=own, beside=beside)
                return replay_stale(state, tasks, options.allow_stale, console)
            jobs = require_jobs(recordings, tasks, harness)
        budget = Allowance()
        if options.record_missing is not None:
            budget = budget_of(state.config, None)
            require_prices(harness, budget, tasks)
        request = Request(
            kind=options.kind if options.record_missing is None else Kind.TOP_UP,
            harness=harness,
            tasks=tasks,
            jobs=jobs,
            workers=options.workers or default_workers(),
            sandbox=state.config.sandbox.use,
            # What a killed top-up has asked was paid for.
            fresh=options.record_missing is None,
            faults=plan,
            top_up=options.record_missing or 0,
            pace=options.pace,
            budget=budget,
        )
        if plan is not None:
            announce_plan(plan, console)
        finished = make_trials(state, request, console)
        console.note(f"run {finished.run.id}")
        if plan is not None:
            return report_faults(finished, jobs)
        return _report(finished, jobs, options.record_missing)


def require_jobs(recordings: Recordings, tasks: Sequence[Task], harness: Harness) -> list[Job]:
    """Return a job for each recorded trial; DivergedError when a task has none."""
    hint = "record it: evalgate run --record"
    if not recordings.trials:
        message = f"no recording of this harness ({harness.short})"
        if recordings.others:
            message += f"; there are recordings of {', '.join(recordings.others)}: stale"
        raise DivergedError(message, hint=hint)
    missing = recordings.unrecorded(tasks)
    if missing:
        message = f"no recording of this harness for: {', '.join(missing)}"
        raise DivergedError(message, hint=hint)
    return recordings.jobs(tasks)


def _report(finished: Finished, jobs: Sequence[Job], most: int | None) -> Report:
    diverged = [trial for trial in finished.trials if trial.diverged]
    topped_up = [trial for trial in finished.trials if trial.topped_up]
    wrong = not_reproduced(jobs, [trial for trial in finished.trials if not trial.topped_up])
    problems = [f"diverged: {t.task} #{t.key.n}: {t.diverged}" for t in diverged]
    problems += [
        f"topped up: {t.task} #{t.key.n}: {counted(t.topped_up, 'exchange')} not recorded before; "
        f"now in {cassette_path(finished.run, t.task, t.key.n)}"
        for t in topped_up
    ]
    problems += _bound(finished, most)
    problems += [
        f"unused: {t.task} #{t.key.n}: "
        f"{counted(t.unused_exchanges, 'recorded exchange')} not asked for"
        for t in finished.trials
        if t.unused_exchanges and not t.diverged
    ]
    problems += [f"not reproduced: {text}" for text in wrong]
    then = {(job.task.id, job.n): job.recorded.measured for job in jobs if job.recorded}
    lost = [
        f"not measured here: {t.task} #{t.key.n}: {t.reason}"
        for t in finished.trials
        if not t.diverged and not_measured_here(then[t.task, t.key.n], t)
    ]
    problems += lost
    codes = [
        *[ExitCode.VOID] * bool(wrong),
        *[ExitCode.DIVERGED] * bool(diverged),
        *[ExitCode.NOT_MEASURED] * bool(lost),
    ]
    closing = "" if codes else f"reproduced: all {counted(len(finished.trials), 'recorded trial')}"
    if topped_up and not codes:
        rest = len(finished.trials) - len(topped_up)
        same = counted(rest, "recorded trial")
        closing = f"reproduced: {same}; {len(topped_up)} topped up prove nothing"
    return Report(
        exit_code=worst(codes), finished=finished, problems=tuple(problems), closing=closing
    )


def _bound(finished: Finished, most: int | None) -> list[str]:
    """Say how much of its bound a top-up has used, and which trials still lack something."""
    if most is None:
        return []
    asked = sum(trial.topped_up for trial in finished.trials)
    left = [f"{trial.task} #{trial.key.n}" for trial in finished.trials if trial.diverged]
    used = f"--record-missing {most}: {counted(asked, 'new exchange')} asked"
    if asked < most or not left:
        return [f"{used}, {most - asked} left"] if asked else []
    return [f"{used}: the bound is reached; not recorded as a whole: {', '.join(left)}"]


def _require_source(run: RunFolder) -> None:
    """Refuse a run that grading again would make look like more than it is."""
    if not run.info.get("finished"):
        message = f"run {run.id} is not finished"
        raise UsageError(message, hint="repeat its command: it goes on where it stopped")
    _require_evidence(f"run {run.id}", run.plan.evidence)


def _require_evidence(what: str, evidence: Evidence) -> None:
    if not evidence.counts:
        message = f"{what} is {evidence}, and proves nothing"
        raise UsageError(message, hint="regrade a live run, or record one: evalgate run --record")


def _jobs_of_run(project: Project, name: str, harness: Harness, tasks: Sequence[Task]) -> list[Job]:
    named = find_trials(RunStore(project.state), name)
    folder = named.run
    _require_source(folder)
    by_id = {task.id: task for task in tasks}
    jobs = []
    for trial in named.trials:
        path = cassette_path(folder, trial.task, trial.key.n)
        if trial.task not in by_id or not path.exists():
            continue
        if trial.key.fingerprint != harness.fingerprint:
            message = f"run {folder.id} is of the harness {short_of(trial.key.fingerprint)}"
            hint = f"this state's harness is {harness.short}: name its revision with --rev"
            raise UsageError(message, hint=hint)
        if by_id[trial.task].digest != trial.key.task_digest:
            message = f"task {trial.task} is not the one that run {folder.id} worked on"
            raise UsageError(message, hint="check out the tasks as they were")
        recorded = load_recorded(path.read_bytes(), name=str(path))
        _require_evidence(f"{trial.task} #{trial.key.n} of run {folder.id}", recorded.evidence)
        jobs.append(Job(task=by_id[trial.task], n=trial.key.n, recorded=recorded))
    if not jobs:
        message = f"run {folder.id} holds no recording"
        raise UsageError(message, hint="replays and regrades make none: name a live run")
    return jobs

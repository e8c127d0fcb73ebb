"""The head's trials by the evidence there is: recordings, a run made here, or live now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.console import Console
from evalgate.commands.project import State
from evalgate.commands.recordings import Recordings, find_recordings
from evalgate.commands.trials import Request, default_workers, make_trials, not_reproduced
from evalgate.core.harness import Harness
from evalgate.core.identity import Conditions
from evalgate.core.sample import Sample, sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence
from evalgate.errors import UsageError
from evalgate.runner.run import Job
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTrials:
    """The head's sample; ``stale`` says why there is none, ``doubts`` why it may be wrong."""

    sample: Sample
    tasks: tuple[Task, ...] = ()
    sandbox: str = ""
    stale: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    run: str = ""


def gather(
    state: State,
    base: State,
    *,
    live: bool,
    console: Console,
    workers: int | None,
    max_usd: float | None,
) -> HeadTrials:
    """Return the head's trials: live when asked for, else recorded, else of a run made here."""
    harness = state.harness()
    tasks = judging_tasks(base.tasks(), state.tasks())
    if live:
        return _live(state, harness, tasks, base, console, workers, max_usd)
    recordings = find_recordings(state, harness.fingerprint)
    if recordings.tapes:
        return _regraded(state, harness, tasks, base, recordings, console, workers)
    made_here = _made_here(state, harness, tasks, base)
    if made_here is not None:
        return made_here
    reasons = [f"no recording of the harness {harness.short}"]
    if recordings.others:
        reasons.append(f"stale recordings: {', '.join(recordings.others)}")
    return HeadTrials(sample=_empty(harness), stale=tuple(reasons))


def judging_tasks(base: Sequence[Task], head: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that judge: the base's, and the head's own where base has no equal.

    What only the head has is graded so that it can be shown, and is never compared.
    """
    tasks = {task.id: task for task in base}
    tasks.update({task.id: task for task in head})
    return tuple(tasks[name] for name in sorted(tasks))


def _regraded(
    state: State,
    harness: Harness,
    tasks: Sequence[Task],
    base: State,
    recordings: Recordings,
    console: Console,
    workers: int | None,
) -> HeadTrials:
    jobs = recordings.jobs(tasks)
    incomplete = _incomplete(jobs, base)
    if incomplete:
        return HeadTrials(sample=_empty(harness), stale=tuple(incomplete))
    request = _request(Kind.REGRADE, state, harness, tasks, jobs, workers, fresh=True)
    finished = make_trials(state, request, console)
    wrong = [f"not reproduced: {text}" for text in not_reproduced(jobs, finished.trials)]
    sample = sample_of(
        finished.trials,
        fingerprint=harness.fingerprint,
        evidence=Evidence.REGRADED,
        recordings=recordings.count,
    )
    return HeadTrials(
        sample=sample,
        tasks=tuple(tasks),
        sandbox=finished.sandbox,
        doubts=tuple(wrong),
        run=finished.run.id,
    )


def _incomplete(jobs: Sequence[Job], base: State) -> list[str]:
    # A set with trials or tasks left out would let an author choose the numbers.
    numbers: dict[str, list[int]] = {}
    for job in jobs:
        numbers.setdefault(job.task.id, []).append(job.n)
    found = []
    digests = {job.task.digest for job in jobs}
    for task in base.tasks():
        have = sorted(numbers.get(task.id, []))
        wanted = list(range(1, max(base.config.trials, len(have)) + 1))
        if task.digest in digests and have != wanted:
            found.append(f"{task.id}: trials {have} are recorded, {wanted} are needed")
        elif task.id not in numbers:
            found.append(f"{task.id}: no recording")
    return found


def _live(
    state: State,
    harness: Harness,
    tasks: Sequence[Task],
    base: State,
    console: Console,
    workers: int | None,
    max_usd: float | None,
) -> HeadTrials:
    jobs = [Job(task=t, n=n) for t in tasks for n in range(1, base.config.trials + 1)]
    request = _request(Kind.RUN, state, harness, tasks, jobs, workers, max_usd=max_usd)
    finished = make_trials(state, request, console)
    return HeadTrials(
        sample=finished.sample,
        tasks=tuple(tasks),
        sandbox=finished.sandbox,
        run=finished.run.id,
    )


def _made_here(
    state: State, harness: Harness, tasks: Sequence[Task], base: State
) -> HeadTrials | None:
    digests = {task.id: task.digest for task in tasks}
    for run in reversed(RunStore(state.project.state).all()):
        plan = run.info.get("plan", {})
        same = plan.get("fingerprint") == harness.fingerprint and plan.get("tasks") == digests
        if not same or plan.get("kind") != Kind.RUN or not run.info.get("finished"):
            continue
        trials = run.trials
        if len(trials) < base.config.trials * len(digests):
            continue
        sample = sample_of(
            trials, fingerprint=harness.fingerprint, evidence=Evidence.MEASURED
        )
        sandbox = str(plan["sandbox"])
        return HeadTrials(sample=sample, tasks=tuple(tasks), sandbox=sandbox, run=run.id)
    return None


def _request(
    kind: Kind,
    state: State,
    harness: Harness,
    tasks: Sequence[Task],
    jobs: Sequence[Job],
    workers: int | None,
    *,
    max_usd: float | None = None,
    fresh: bool = False,
) -> Request:
    budget = state.config.budget_usd if max_usd is None else max_usd
    priced = all(model.price is not None for model in harness.config.models.values())
    if kind is Kind.RUN and budget is not None and not priced:
        message = "a budget is set, but the price of a model is unknown"
        raise UsageError(message, hint="add [models.NAME.price], or leave the budget out")
    return Request(
        kind=kind,
        harness=harness,
        tasks=tasks,
        jobs=jobs,
        workers=workers or default_workers(),
        sandbox=state.config.sandbox,
        max_usd=budget if kind is Kind.RUN else None,
        fresh=fresh,
    )


def _empty(harness: Harness) -> Sample:
    return Sample(
        fingerprint=harness.fingerprint,
        conditions=Conditions(sandbox="", agent=""),
        tasks={},
        evidence=Evidence.STALE,
    )

"""The head's trials by the evidence there is: recordings, a run made here, or live now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.console import Console
from evalgate.commands.project import State
from evalgate.commands.recordings import Recordings, find_recordings
from evalgate.commands.trials import (
    Request,
    default_workers,
    make_trials,
    not_reproduced,
    require_prices,
)
from evalgate.core.harness import Harness
from evalgate.core.identity import Conditions
from evalgate.core.sample import Sample, sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Whose trials are gathered, by which tasks, and how much may be spent on it."""

    state: State
    base: State
    harness: Harness
    tasks: tuple[Task, ...]
    console: Console
    workers: int | None = None
    max_usd: float | None = None


def gather(
    state: State,
    base: State,
    console: Console,
    *,
    live: bool = False,
    workers: int | None = None,
    max_usd: float | None = None,
) -> HeadTrials:
    """Return the head's trials: live when asked for, else recorded, else of a run made here."""
    it = Gathering(
        state=state,
        base=base,
        harness=state.harness,
        tasks=judging_tasks(base.tasks, state.tasks),
        console=console,
        workers=workers,
        max_usd=max_usd,
    )
    if live:
        return _live(it)
    recordings = find_recordings(state, it.harness.fingerprint)
    if recordings.tapes:
        return _regraded(it, recordings)
    made_here = _made_here(it)
    if made_here is not None:
        return made_here
    reasons = [f"no recording of the harness {it.harness.short}"]
    if recordings.others:
        reasons.append(f"stale recordings: {', '.join(recordings.others)}")
    return HeadTrials(sample=_empty(it.harness), stale=tuple(reasons))


def judging_tasks(base: Sequence[Task], head: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that judge: the base's, and the head's own where base has no equal.

    What only the head has is graded so that it can be shown, and is never compared.
    """
    tasks = {task.id: task for task in base}
    tasks.update({task.id: task for task in head})
    return tuple(tasks[name] for name in sorted(tasks))


def _regraded(it: Gathering, recordings: Recordings) -> HeadTrials:
    jobs = recordings.jobs(it.tasks)
    incomplete = _incomplete(jobs, it.base)
    if incomplete:
        return HeadTrials(sample=_empty(it.harness), stale=tuple(incomplete))
    finished = make_trials(it.state, _request(it, Kind.REGRADE, jobs), it.console)
    wrong = [f"not reproduced: {text}" for text in not_reproduced(jobs, finished.trials)]
    sample = sample_of(
        finished.trials,
        fingerprint=it.harness.fingerprint,
        evidence=Evidence.REGRADED,
        recordings=recordings.count,
    )
    return HeadTrials(
        sample=sample,
        tasks=it.tasks,
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
    for task in base.tasks:
        have = sorted(numbers.get(task.id, []))
        wanted = list(range(1, max(base.config.trials, len(have)) + 1))
        if task.digest in digests and have != wanted:
            found.append(f"{task.id}: trials {_listed(have)} are recorded, not {_listed(wanted)}")
        elif task.id not in numbers:
            found.append(f"{task.id}: no recording")
    return found


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _live(it: Gathering) -> HeadTrials:
    jobs = [Job(task=t, n=n) for t in it.tasks for n in range(1, it.base.config.trials + 1)]
    finished = make_trials(it.state, _request(it, Kind.RUN, jobs), it.console)
    return HeadTrials(
        sample=finished.sample,
        tasks=it.tasks,
        sandbox=finished.sandbox,
        run=finished.run.id,
    )


def _made_here(it: Gathering) -> HeadTrials | None:
    digests = {task.id: task.digest for task in it.tasks}
    for run in reversed(RunStore(it.state.project.state).all()):
        plan = run.info.get("plan", {})
        same = plan.get("fingerprint") == it.harness.fingerprint and plan.get("tasks") == digests
        if not same or plan.get("kind") != Kind.RUN or not run.info.get("finished"):
            continue
        trials = run.trials
        if len(trials) < it.base.config.trials * len(digests):
            continue
        sample = sample_of(trials, fingerprint=it.harness.fingerprint, evidence=Evidence.MEASURED)
        return HeadTrials(sample=sample, tasks=it.tasks, sandbox=str(plan["sandbox"]), run=run.id)
    return None


def _request(it: Gathering, kind: Kind, jobs: Sequence[Job]) -> Request:
    live = kind is Kind.RUN
    max_usd = it.state.config.budget_usd if it.max_usd is None else it.max_usd
    if live:
        require_prices(it.harness, max_usd)
    return Request(
        kind=kind,
        harness=it.harness,
        tasks=it.tasks,
        jobs=jobs,
        workers=it.workers or default_workers(),
        sandbox=it.state.config.sandbox,
        max_usd=max_usd if live else None,
        fresh=not live,
    )


def _empty(harness: Harness) -> Sample:
    return Sample(
        fingerprint=harness.fingerprint,
        conditions=Conditions(sandbox="", agent=""),
        tasks={},
        evidence=Evidence.STALE,
    )

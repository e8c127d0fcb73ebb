"""The head's trials by the evidence there is: recordings, a run made here, or live now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalgate.commands.budget import budget_of, require_prices
from evalgate.commands.cassettes.retention import recordings_aside
from evalgate.commands.console import Console
from evalgate.commands.estimate import estimate
from evalgate.commands.project import State
from evalgate.commands.recordings import Recordings, find_recordings
from evalgate.commands.reproduction import not_reproduced
from evalgate.commands.trials import (
    Request,
    default_workers,
    make_trials,
)
from evalgate.core.harness import Harness
from evalgate.core.identity import Conditions
from evalgate.core.limits import Allowance
from evalgate.core.sample import Sample, sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Trial
from evalgate.errors import UsageError
from evalgate.runner.run import Job
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTrials:
    """The head's sample.

    ``stale`` says why there is none, its first line in a whole sentence; ``doubts`` why the
    numbers may be wrong; ``hits`` are the tripwires that were touched, a line each.
    """

    sample: Sample
    tasks: tuple[Task, ...] = ()
    sandbox: str = ""
    stale: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    run: str = ""
    hits: tuple[str, ...] = ()


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
    if recordings.trials:
        return _regraded(it, recordings)
    made_here = _made_here(it)
    if made_here is not None:
        return made_here
    reasons = ["This edit is not measured: there is no recording of the new harness."]
    if recordings.others:
        reasons.append(f"stale recordings: {', '.join(recordings.others)}")
    return HeadTrials(sample=_empty(it.harness), stale=tuple(reasons))


def judging_tasks(base: Sequence[Task], head: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that judge: the base's, and those that only the head has.

    What only the head has is graded so that it can be shown, and is never compared.
    """
    tasks = {task.id: task for task in (*head, *base)}  # the base's version wins
    return tuple(tasks[name] for name in sorted(tasks))


def _regraded(it: Gathering, recordings: Recordings) -> HeadTrials:
    incomplete = _incomplete(recordings, it.base)
    if incomplete:
        sentence = "This edit is not measured: its recordings are not a complete set."
        aside = sorted({*recordings_aside(it.state.project, it.harness.fingerprint).values()})
        back = [f"others are kept in {ref}: evalgate cassette export --from-ref" for ref in aside]
        return HeadTrials(sample=_empty(it.harness), stale=(sentence, *incomplete, *back))
    jobs = recordings.jobs(it.tasks)
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
        hits=_hits(finished.trials),
    )


def _incomplete(recordings: Recordings, base: State) -> list[str]:
    # A set with trials or tasks left out, or with a task made easier, would let an author
    # choose the numbers.
    found = []
    for task in base.tasks:
        have = [one.n for one in recordings.of(task)]
        wanted = list(range(1, max(base.config.trials, len(have)) + 1))
        if not have:
            found.append(f"{task.id}: {recordings.why_not(task)}")
        elif have != wanted:
            found.append(f"{task.id}: trials {_listed(have)} are recorded, not {_listed(wanted)}")
    return found


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _live(it: Gathering) -> HeadTrials:
    _require_known_upstreams(it)
    jobs = [Job(task=t, n=n) for t in it.tasks for n in range(1, it.base.config.trials + 1)]
    it.console.note(estimate(it.base, it.harness, it.tasks, len(jobs)))
    finished = make_trials(it.state, _request(it, Kind.RUN, jobs), it.console)
    # All there is counts, not the run that came out best.
    made_here = _made_here(it)
    return made_here or HeadTrials(
        sample=finished.sample,
        tasks=it.tasks,
        sandbox=finished.sandbox,
        run=finished.run.id,
        hits=_hits(finished.trials),
    )


def _hits(trials: Iterable[Trial]) -> tuple[str, ...]:
    return tuple(
        f"tripwire {hit.name}: {trial.task} #{trial.key.n}, {hit.place}: {hit.excerpt}"
        for trial in trials
        for hit in trial.tripwires
    )


def _require_known_upstreams(it: Gathering) -> None:
    # The change under review must not say where a key of this machine is sent. To a plan of
    # replies none is: it is answered here.
    known = {(m.upstream, m.key_env) for m in it.base.config.models.values()}
    for model in it.harness.config.models.values():
        if model.plan is None and (model.upstream, model.key_env) not in known:
            message = f"models.{model.name}: the change sends its requests to {model.upstream!r}"
            hint = "look at it, then measure it yourself: evalgate run --record"
            raise UsageError(message, hint=hint)


def _made_here(it: Gathering) -> HeadTrials | None:
    digests = {task.id: task.digest for task in it.tasks}
    enough = it.base.config.trials * len(digests)
    complete = [
        (run, trials)
        for run in RunStore(it.state.project.state).finished()
        if _is_of(run.info["plan"], it.harness, digests) and len(trials := run.trials) >= enough
    ]
    if not complete:
        return None
    every = [trial for _, trials in complete for trial in trials]
    sample = sample_of(
        every,
        fingerprint=it.harness.fingerprint,
        evidence=Evidence.MEASURED,
        recordings=len(complete),
    )
    newest, _ = complete[-1]
    sandbox = str(newest.info["plan"]["sandbox"])
    return HeadTrials(
        sample=sample, tasks=it.tasks, sandbox=sandbox, run=newest.id, hits=_hits(every)
    )


def _is_of(plan: Mapping[str, Any], harness: Harness, tasks: Mapping[str, str]) -> bool:
    wanted = (Kind.RUN, harness.fingerprint, tasks)
    return (plan["kind"], plan["fingerprint"], plan["tasks"]) == wanted


def _request(it: Gathering, kind: Kind, jobs: Sequence[Job]) -> Request:
    live = kind is Kind.RUN
    budget = budget_of(it.base.config, it.max_usd) if live else Allowance()
    if live:
        require_prices(it.harness, budget, it.tasks)
    return Request(
        kind=kind,
        harness=it.harness,
        tasks=it.tasks,
        jobs=jobs,
        workers=it.workers or default_workers(),
        sandbox=it.state.config.sandbox.use,
        budget=budget,
        fresh=not live,
        tripwires=it.base.config.tripwires.wires,
    )


def _empty(harness: Harness) -> Sample:
    return Sample(
        fingerprint=harness.fingerprint,
        conditions=Conditions(sandbox="", agent=""),
        tasks={},
        evidence=Evidence.STALE,
    )

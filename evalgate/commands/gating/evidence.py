"""The head's trials by the evidence there is: recordings, or runs made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalgate.commands.cassettes.retention import recordings_aside
from evalgate.commands.console import Console
from evalgate.commands.gating.reproduced import reproduced_here
from evalgate.commands.making.judges import judged_by, judges_digest
from evalgate.commands.making.pricing import judging_prices, priced_by, prices_digest, repriced
from evalgate.commands.making.reproduction import not_reproduced
from evalgate.commands.making.trials import (
    Request,
    default_workers,
    make_trials,
    wires_digest,
)
from evalgate.commands.project import State
from evalgate.commands.recordings import Recordings, find_recordings
from evalgate.core.harness import Harness
from evalgate.core.identity import Conditions
from evalgate.core.rates import counted
from evalgate.core.sample import Sample, sample_of, without_retried
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Trial
from evalgate.core.tripwires import Hit
from evalgate.runner.run import Job
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One tripwire that one trial touched."""

    task: str
    n: int
    hit: Hit

    @property
    def sentence(self) -> str:
        """Say it, for a person."""
        hit = self.hit
        return f"tripwire {hit.name}: {self.task} #{self.n}, {hit.place}: {hit.excerpt}"


def trials_by_tripwire(touched: Iterable[Touch]) -> dict[str, int]:
    """Count the trials in which each tripwire was touched."""
    return dict(Counter(name for name, _, _ in {(t.hit.name, t.task, t.n): 0 for t in touched}))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTrials:
    """The head's sample.

    ``stale`` says why there is none, its first line in a whole sentence; ``doubts`` why the
    numbers may be wrong; ``hits`` are the tripwires that were touched; ``unchecked`` why a
    spot check says nothing.
    """

    sample: Sample
    tasks: tuple[Task, ...] = ()
    sandbox: str = ""
    stale: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    run: str = ""
    hits: tuple[Touch, ...] = ()
    unchecked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Whose trials are gathered, by which tasks, and how much may be spent on it.

    ``harness`` is the head's at the base's prices, and with its judges. With ``once`` a recording
    that was reproduced here before is not graded again.
    """

    state: State
    base: State
    harness: Harness
    tasks: tuple[Task, ...]
    console: Console
    workers: int | None = None
    max_usd: float | None = None
    once: bool = False


def gather(it: Gathering) -> HeadTrials:
    """Return the head's trials: recorded, else of runs made here; nothing is made anew."""
    recordings = find_recordings(it.state, it.harness.fingerprint)
    if recordings.trials:
        return _regraded(it, recordings)
    made = trials_here(it)
    if all(len(made.of(task)) >= it.base.config.trials for task in it.base.tasks) and made.trials:
        return head_trials(it, made)
    reasons = ["This edit is not measured: there is no recording of the new harness."]
    if recordings.others:
        reasons.append(f"stale recordings: {', '.join(recordings.others)}")
    if made.trials:
        begun = f"{counted(len(made.trials), 'live trial')} were made here"
        reasons.append(f"{begun}: evalgate gate --live goes on with them")
    return HeadTrials(sample=_empty(it.harness), stale=tuple(reasons))


def gathering(
    state: State,
    base: State,
    console: Console,
    *,
    workers: int | None = None,
    max_usd: float | None = None,
    once: bool = False,
) -> Gathering:
    """Return what the head's trials are gathered by: the base's tasks, and the head's new ones."""
    return Gathering(
        state=state,
        base=base,
        harness=judged_by(base.config, priced_by(base.config, state.harness)),
        tasks=judging_tasks(base.tasks, state.tasks),
        console=console,
        workers=workers,
        max_usd=max_usd,
        once=once,
    )


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
    request = replace(request_of(it, Kind.REGRADE, jobs), fresh=True)
    before = reproduced_here(RunStore(it.state.project.state), request) if it.once else None
    if before is None:
        if it.once:  # who pushes is told what is waited for
            it.console.warn(
                f"evalgate: {counted(len(jobs), 'recorded trial')} are graded here, once"
            )
        finished = make_trials(it.state, request, it.console)
        run, trials, sandbox = finished.run, finished.trials, finished.sandbox
    else:
        run, trials, sandbox = before.run, before.trials, before.run.plan.sandbox
    doubted = not_reproduced(jobs, trials, repriced=bool(request.prices))
    wrong = [f"not reproduced: {text}" for text in doubted]
    sample = sample_of(
        trials,
        fingerprint=it.harness.fingerprint,
        evidence=Evidence.REGRADED,
        recordings=recordings.count,
    )
    return HeadTrials(
        sample=sample,
        tasks=it.tasks,
        sandbox=sandbox,
        doubts=(*recordings.copies, *wrong),
        run=run.id,
        hits=hits_of(trials),
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


def hits_of(trials: Iterable[Trial]) -> tuple[Touch, ...]:
    """Return the tripwires that were touched, in the order of the trials."""
    return tuple(
        Touch(task=trial.task, n=trial.key.n, hit=hit)
        for trial in trials
        for hit in trial.tripwires
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeHere:
    """All live trials of one harness in finished runs of this clone, the runs oldest first."""

    trials: tuple[Trial, ...] = ()
    runs: tuple[RunFolder, ...] = ()

    def of(self, task: Task) -> tuple[Trial, ...]:
        """Return the trials of one task."""
        return tuple(trial for trial in self.trials if trial.task == task.id)


def trials_here(it: Gathering) -> MadeHere:
    """Return what was made here already, of the tasks as they judge.

    All there is counts, not the run that came out best; but not what was made while something
    else than the base's tripwires was looked for, or where judges were asked elsewhere, nor what
    errored and was tried again, nor what was made where nothing isolates, unless the configuration
    says so. What they cost is told by the base's prices.
    """
    own, judging = prices_digest(it.state.harness), prices_digest(it.harness)
    judges = judges_digest(it.tasks, it.harness.judges)
    own_judges = judges_digest(it.tasks, it.state.harness.judges)
    wires = wires_digest(it.base.config.tripwires.wires)
    sandbox = it.state.config.sandbox
    digests = {task.id: task.digest for task in it.tasks}
    trials: list[Sequence[Trial]] = []
    runs: list[RunFolder] = []
    for run in RunStore(it.state.project.state).finished():
        plan = run.plan
        if (plan.kind, plan.fingerprint) != (Kind.RUN, it.harness.fingerprint):
            continue
        if plan.tripwires != wires or (plan.judges or own_judges) != judges:
            continue
        if not sandbox.allows(plan.sandbox):
            continue
        found = [one for one in run.trials if digests.get(one.task) == one.key.task_digest]
        if (plan.prices or own) != judging:
            found = [repriced(one, run, it.harness) for one in found]
        if found:
            trials.append(found)
            runs.append(run)
    return MadeHere(trials=without_retried(trials), runs=tuple(runs))


def head_trials(it: Gathering, made: MadeHere) -> HeadTrials:
    """Return trials made here as those of the head."""
    newest = made.runs[-1] if made.runs else None
    return HeadTrials(
        sample=sample_of(
            made.trials,
            fingerprint=it.harness.fingerprint,
            evidence=Evidence.MEASURED,
        ),
        tasks=it.tasks,
        sandbox=newest.plan.sandbox if newest else "",
        run=newest.id if newest else "",
        hits=hits_of(made.trials),
    )


def request_of(it: Gathering, kind: Kind, jobs: Sequence[Job]) -> Request:
    """Return a request for trials of the head, by the base's tripwires and prices."""
    return Request(
        kind=kind,
        harness=it.harness,
        tasks=it.tasks,
        jobs=jobs,
        workers=it.workers or default_workers(),
        sandbox=it.state.config.sandbox.use,
        tripwires=it.base.config.tripwires.wires,
        prices=judging_prices(it.harness, it.state.harness),
    )


def _empty(harness: Harness) -> Sample:
    return Sample(
        fingerprint=harness.fingerprint,
        conditions=Conditions(sandbox="", agent=""),
        tasks={},
        evidence=Evidence.STALE,
    )

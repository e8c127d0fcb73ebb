"""`run`, `replay` and `regrade`: one road to trials, whichever way they come about."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex

from evalgate import __version__
from evalgate.commands.console import Console
from evalgate.commands.making.announcement import announce, look_ahead
from evalgate.commands.making.ended import Finished, summary
from evalgate.commands.making.judges import foreign_judges
from evalgate.commands.project import State
from evalgate.core.faults import FaultPlan
from evalgate.core.harness import Harness
from evalgate.core.identity import MAIN, digest
from evalgate.core.json import Json
from evalgate.core.limits import Allowance
from evalgate.core.run_plan import PlannedTrial, RunPlan
from evalgate.core.sample import sample_of
from evalgate.core.task import Task, suite_digest
from evalgate.core.trial import Evidence, Trial
from evalgate.core.tripwires import Tripwire
from evalgate.errors import BudgetReachedError, InterruptedRunError
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.limits.top_up import TopUp
from evalgate.runner.bench import Bench
from evalgate.runner.journals import remove_journals
from evalgate.runner.made import Made
from evalgate.runner.run import Job, execute, spent_before
from evalgate.runner.trial import live_trial, regraded_trial, replayed_trial
from evalgate.store.runs import RunFolder, RunStore, times
from evalgate.wiring import Kind, Setup, open_bench

EVIDENCE = {
    Kind.RUN: Evidence.MEASURED,
    Kind.REPLAY: Evidence.REPLAYED,
    Kind.REGRADE: Evidence.REGRADED,
    Kind.TOP_UP: Evidence.TOPPED_UP,
    Kind.CONFIRM: Evidence.MEASURED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for: which tasks, which trials of them, and within what bounds.

    ``budget`` is that of what asks a model. Trials under ``faults`` are no evidence.
    ``top_up`` is how much a top-up may ask of the model; ``pace`` how fast a replay's streams
    come, 0 at once; ``tripwires`` are those of who judges, when it is not the harness's project.
    ``beside`` is another harness of which jobs may be; ``series`` that of all trials. All runs
    made under one name of ``account`` share one budget; the trials that one of them has when that
    is used up, or when it is interrupted, count as far as they came. ``prices`` names those of who
    judges, when the trials are not counted at the harness's own.
    """

    kind: Kind
    harness: Harness
    tasks: Sequence[Task]
    jobs: Sequence[Job]
    workers: int
    sandbox: str
    budget: Allowance = field(default_factory=Allowance)
    faults: FaultPlan | None = None
    fresh: bool = False
    recording: int = 1
    top_up: int = 0
    pace: float = 0.0
    tripwires: Sequence[Tripwire] | None = None
    beside: Harness | None = None
    series: str = MAIN
    account: str = ""
    prices: str = ""

    @property
    def evidence(self) -> Evidence:
        """What the trials will be worth."""
        return EVIDENCE[self.kind] if self.faults is None else Evidence.FAULTED


def default_workers() -> int:
    """Return how many trials run at once when nobody says: one a core."""
    return max(1, os.cpu_count() or 1)


def make_trials(
    state: State,
    request: Request,
    console: Console,
    *,
    conclude: Callable[[Finished], None] = lambda _: None,
) -> Finished:
    """Make the trials asked for, resuming the same request where it was left.

    The run is finished when ``conclude`` has done with it: until then the same request goes on
    with it.
    """
    setup = _setup(request, request.harness)
    started = datetime.now(UTC)
    store = RunStore(state.project.state)
    with ExitStack() as stack:
        bench = stack.enter_context(open_bench(setup, os.environ))
        beside = bench
        if request.beside is not None:
            other = _setup(request, request.beside)
            beside = stack.enter_context(open_bench(other, os.environ))
        announce(bench, request.kind, console, recorded_in=setup.recorded_in)
        if request.kind.asks_model:
            look_ahead(bench, console)
        plan = _plan(request, bench)
        if request.fresh and request.kind.asks_model:
            for run in store.abandon(plan):
                remove_journals(run)
        with store.open(plan, fresh=request.fresh, noted=_noted(request)) as run:
            under = _under(bench, request, run, store)
            spending = under.spending
            other_under = replace(_under(beside, request, run, store), spending=spending)
            make = partial(_make, request.kind, (under, other_under), run, console)
            spent = None if spending is None else partial(_usd, spending)
            try:
                with console.progress(spent):
                    trials = execute(
                        request.jobs,
                        make,
                        run,
                        workers=request.workers,
                        spending=spending,
                        listener=console,
                        resumes=request.kind.asks_model or not request.fresh,
                    )
            except (BudgetReachedError, InterruptedRunError) as error:
                with suppress(OSError):  # a full disk may be what ended it
                    run.write_info({**run.info, "stopped": error.message})
                if request.account and request.series == MAIN and run.trials:
                    _end(run, run.trials, started)  # its journals stay: they tell what was paid
                raise
            remove_journals(run)
            finished = _finished(request, bench, run, trials)
            conclude(finished)
            _end(run, trials, started)
    return finished


def _end(run: RunFolder, trials: Sequence[Trial], started: datetime) -> None:
    done: dict[str, Json] = {
        "finished": True,
        "summary": summary(trials),
        "times": times(started),
    }
    known = {name: value for name, value in run.info.items() if name != "stopped"}
    run.write_info({**known, **done})


def _setup(request: Request, harness: Harness) -> Setup:
    return Setup(
        kind=request.kind,
        harness=harness,
        tasks=request.tasks,
        sandbox=request.sandbox,
        provenance=Header(
            evalgate=__version__,
            recorded=datetime.now(UTC).date().isoformat(),
            models={m.name: m.id for m in harness.config.models.values()},
        ),
        tripwires=request.tripwires,
        recorded_in=sorted(
            {job.recorded.conditions.sandbox for job in request.jobs if job.recorded is not None}
        ),
    )


def _finished(
    request: Request, bench: Bench, run: RunFolder, trials: tuple[Trial, ...]
) -> Finished:
    evidence = request.evidence
    if evidence is Evidence.TOPPED_UP and not any(trial.topped_up for trial in trials):
        evidence = Evidence.REPLAYED
    fingerprint = request.harness.fingerprint
    sample = sample_of(
        [trial for trial in trials if trial.key.fingerprint == fingerprint],
        fingerprint=fingerprint,
        evidence=evidence,
        recordings=request.recording,
    )
    return Finished(run=run, trials=trials, sample=sample, sandbox=bench.provider.name)


def _under(bench: Bench, request: Request, run: RunFolder, store: RunStore) -> Bench:
    """Return the bench with what trials may use together, and with what they meet."""
    top_up = None
    if request.kind is Kind.TOP_UP:
        top_up = TopUp(request.top_up)
        top_up.used_before(sum(trial.topped_up for trial in run.trials))
    info = run.info
    return replace(
        bench,
        provenance=replace(
            bench.provenance,
            recording=info.get("recording", request.recording),
            recording_id=info.get("recording_id", ""),
        ),
        spending=_spending(request, run, store) if request.kind.asks_model else None,
        faults=request.faults,
        top_up=top_up,
        pace=request.pace,
        series=request.series,
    )


def _noted(request: Request) -> dict[str, Json]:
    """Return which recording of its harness a new run makes: its number, and an id of its own."""
    number: dict[str, Json] = {"recording": request.recording}
    if request.account:
        number["account"] = request.account
    return {**number, "recording_id": token_hex(8)} if request.kind.asks_model else number


def _spending(request: Request, run: RunFolder, store: RunStore) -> Spending:
    others = [one for one in store.of_account(request.account) if one.id != run.id]
    config = request.harness.config
    return spent_before(run, request.budget, request.jobs, config, elsewhere=others)


def _make(
    kind: Kind,
    benches: tuple[Bench, Bench],
    run: RunFolder,
    console: Console,
    job: Job,
    stop: threading.Event,
) -> Made:
    with console.at_work(job.task.id, job.n) as told:
        bench = replace(benches[job.beside], told=told)
        task = bench.laid_out(job.task)
        if job.recorded is None:
            return live_trial(bench, task, job.n, run, stop)
        if kind is Kind.REGRADE:
            return Made(trial=regraded_trial(bench, task, job.recorded, stop))
        return replayed_trial(bench, task, job.recorded, run, stop)


def _usd(spending: Spending) -> float | None:
    return spending.used.usd


def _plan(request: Request, bench: Bench) -> RunPlan:
    faults, beside = request.faults, request.beside
    return RunPlan(
        # A kind of its own, so that nobody takes it for a run or a replay.
        kind=str(request.kind) if faults is None else f"{request.kind}-with-faults",
        evidence=request.evidence,
        evalgate=__version__,
        fingerprint=request.harness.fingerprint,
        parts=request.harness.parts,
        suite=suite_digest(request.tasks),
        sandbox=bench.provider.name,
        images=bench.images,
        agent=bench.agent.version,
        tasks={task.id: task.digest for task in request.tasks},
        trials=planned(request.jobs),
        faults="" if faults is None else faults.digest,
        beside="" if beside is None else beside.fingerprint,
        series=request.series,
        prices=request.prices,
        judges=foreign_judges(request.harness, request.tasks),
        tripwires=wires_digest(bench.tripwires),
    )


def planned(jobs: Sequence[Job]) -> tuple[PlannedTrial, ...]:
    """Return jobs as a plan names them."""
    return tuple(
        PlannedTrial(
            task=job.task.id, n=job.n, recording=job.recorded.tape.digest if job.recorded else ""
        )
        for job in jobs
    )


def wires_digest(wires: Sequence[Tripwire]) -> str:
    """Return twelve hex that name what was looked for in the trials of a run."""
    return digest([asdict(wire) for wire in wires], domain="evalgate tripwires")[:12]

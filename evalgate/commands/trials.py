"""`run`, `replay` and `regrade`: one road to trials, with three ways to get them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from evalgate import __version__
from evalgate.commands.console import Console
from evalgate.commands.project import State
from evalgate.core.harness import Harness
from evalgate.core.json import Json
from evalgate.core.sample import Sample, sample_of
from evalgate.core.task import Task, suite_digest
from evalgate.core.trial import Evidence, Outcome, Trial
from evalgate.errors import UsageError
from evalgate.protocols import SandboxProvider
from evalgate.runner.bench import Bench
from evalgate.runner.run import Job, execute
from evalgate.runner.trial import live_trial, regraded_trial, replayed_trial
from evalgate.store.runs import RunFolder, RunStore, times
from evalgate.wiring import Kind, Setup, open_bench

EVIDENCE = {
    Kind.RUN: Evidence.MEASURED,
    Kind.REPLAY: Evidence.REPLAYED,
    Kind.REGRADE: Evidence.REGRADED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for: which tasks, which trials of them, and within what bounds."""

    kind: Kind
    harness: Harness
    tasks: Sequence[Task]
    jobs: Sequence[Job]
    workers: int
    sandbox: str
    max_usd: float | None = None
    fresh: bool = False
    recording: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A complete run: its folder, its trials, and them as a sample."""

    run: RunFolder
    trials: tuple[Trial, ...]
    sample: Sample
    sandbox: str


def default_workers() -> int:
    """Return how many trials run at once when nobody says: one a core."""
    return max(1, os.cpu_count() or 1)


def make_trials(state: State, request: Request, console: Console) -> Finished:
    """Make the trials asked for, resuming the same request where it was left."""
    setup = Setup(
        kind=request.kind,
        harness=request.harness,
        tasks=request.tasks,
        sandbox=request.sandbox,
        provenance={
            "evalgate": __version__,
            "recorded": datetime.now(UTC).date().isoformat(),
            "recording": request.recording,
            "models": {m.name: m.id for m in request.harness.config.models.values()},
        },
    )
    started = datetime.now(UTC)
    store = RunStore(state.project.state)
    with open_bench(setup, os.environ) as bench:
        _announce(bench.provider, request, console)
        with store.open(_plan(request, bench), fresh=request.fresh) as run, console.progress():
            trials = execute(
                request.jobs,
                _maker(request.kind, bench, run),
                run,
                workers=request.workers,
                max_usd=request.max_usd,
                listener=console,
            )
            run.write_info({**run.info, **_summary(trials), "times": times(started)})
    sample = sample_of(
        trials,
        fingerprint=request.harness.fingerprint,
        evidence=EVIDENCE[request.kind],
        recordings=request.recording,
    )
    return Finished(run=run, trials=trials, sample=sample, sandbox=bench.provider.name)


def not_reproduced(jobs: Sequence[Job], trials: Sequence[Trial]) -> list[str]:
    """Name the trials whose numbers differ from those in their recording."""
    tapes = {(job.task.id, job.n): job.tape for job in jobs}
    found = []
    for trial in trials:
        tape = tapes.get((trial.task, trial.key.n))
        if tape is None or trial.diverged:
            continue
        recorded, now = tape.record["measured"], trial.measured()
        if isinstance(recorded, dict) and recorded != now:
            told = "; ".join(
                f"{key}: {recorded.get(key)} → {now[key]}"
                for key in ("outcome", "reason", "checks", "signals")
                if recorded.get(key) != now[key]
            )
            found.append(f"{trial.task} #{trial.key.n}: {told[:300]}")
    return found


def require_prices(harness: Harness, max_usd: float | None) -> None:
    """Refuse a budget that can not hold because a model's price is unknown."""
    if max_usd is None:
        return
    for model in harness.config.models.values():
        if model.price is None:
            message = f"models.{model.name}: its price is unknown, so a budget can not hold"
            hint = f"add [models.{model.name}.price] with input and output in $ a million tokens"
            raise UsageError(message, hint=hint)


def _maker(kind: Kind, bench: Bench, run: RunFolder) -> Callable[[Job, threading.Event], Trial]:
    return partial(_make, kind, bench, run)


def _make(kind: Kind, bench: Bench, run: RunFolder, job: Job, stop: threading.Event) -> Trial:
    if job.tape is None:
        return live_trial(bench, job.task, job.n, run, stop)
    if kind is Kind.REGRADE:
        return regraded_trial(bench, job.task, job.n, job.tape, stop)
    return replayed_trial(bench, job.task, job.n, job.tape, run, stop)


def _announce(provider: SandboxProvider, request: Request, console: Console) -> None:
    promises = provider.promises
    if not promises.hides_host_files:
        console.note(
            f"sandbox: {provider.name}: NO ISOLATION: agent and tests run as you, "
            "with your files and network"
        )
    elif request.kind is not Kind.REGRADE:
        console.note(f"sandbox: {provider.name}; the agent stage shares the host's network")
    else:
        console.note(f"sandbox: {provider.name}, no network")


def _plan(request: Request, bench: Bench) -> dict[str, Json]:
    return {
        "kind": str(request.kind),
        "evidence": str(EVIDENCE[request.kind]),
        "evalgate": __version__,
        "fingerprint": request.harness.fingerprint,
        "parts": dict(request.harness.parts),
        "suite": suite_digest(request.tasks),
        "sandbox": bench.provider.name,
        "agent": bench.agent.version,
        "tasks": {task.id: task.digest for task in request.tasks},
        "trials": [
            [job.task.id, job.n, job.tape.digest if job.tape else ""] for job in request.jobs
        ],
    }


def _summary(trials: Sequence[Trial]) -> dict[str, Json]:
    tasks: dict[str, dict[str, Json]] = {}
    for trial in trials:
        counts = tasks.setdefault(trial.task, {str(outcome): 0 for outcome in Outcome})
        counts[str(trial.outcome)] = int(str(counts[str(trial.outcome)])) + 1
    return {"finished": True, "summary": tasks}

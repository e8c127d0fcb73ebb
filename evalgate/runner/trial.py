"""One trial: agent stage, claim, grade stage, signals; live, replayed or regraded.

Tasks come here as their bench lays them out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace

from evalgate.core.exchange import Exchange
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Trial
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.charge import spent_on
from evalgate.gateway.server import Mode, Route
from evalgate.gateway.witness.witness import witness_of
from evalgate.protocols import Sandboxes, StageStatus
from evalgate.runner.agent_stage import Traffic, agent_stage
from evalgate.runner.ahead import opened_ahead
from evalgate.runner.artifacts import artifact_folder, cassette_path, write_artifacts
from evalgate.runner.bench import Bench
from evalgate.runner.causes import explained
from evalgate.runner.conclusion import concluded
from evalgate.runner.grade import commands_of
from evalgate.runner.journals import TakenUp, ToppedUp, take_up, top_up
from evalgate.runner.judging import judged_work
from evalgate.runner.made import Made
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.tripped import tripped
from evalgate.runner.work import Work
from evalgate.store.runs import RunFolder


def live_trial(bench: Bench, task: Task, n: int, run: RunFolder, stop: threading.Event) -> Made:
    """Let the agent work with a real model, grade its claim, seal the recording.

    What a killed run had recorded is played first: it was paid for. Under faults nothing is sealed.
    """
    evidence = Evidence.FAULTED if bench.faults else Evidence.MEASURED
    earlier = take_up(run, task.id, n)
    _drop(bench, earlier.dropped)
    mode = Mode.LIVE if earlier.tape is None else Mode.TOP_UP
    traffic = Traffic(mode=mode, tape=earlier.tape, journal=earlier.journal)
    with ExitStack() as stack:
        grading = _grading(bench, task, stack)
        route, work = agent_stage(bench, task, traffic, stack, stop)
        work = judged_work(bench, task, work, stop)
        trial, log = concluded(bench, task, n, work, evidence, stop, grading=grading)
        if bench.faults is None:
            trial = _sealed(bench, task, run, route=route, work=work, trial=trial)
    trial = replace(trial, artifacts=artifact_folder(task.id, n))
    write_artifacts(run, trial, work, log, bench.redactor)
    return _made(bench, trial, route, earlier, first=0)


def replayed_trial(
    bench: Bench, task: Task, recorded: RecordedTrial, run: RunFolder, stop: threading.Event
) -> Made:
    """Let the agent work against the recording; its time is the recorded one.

    In a top-up the model answers what was not recorded; then the trial has a recording of its
    own in the run folder, and proves nothing. What a killed run had asked is played first. Under
    faults nothing is sealed.
    """
    mode, earlier, played = Mode.REPLAY, None, ToppedUp(tape=recorded.tape, asked=0)
    if bench.top_up is not None:
        mode, earlier = Mode.TOP_UP, take_up(run, task.id, recorded.n)
        _drop(bench, earlier.dropped)
        played = top_up(recorded.tape, earlier.tape, bench.harness.config.cassettes.scrubs)
        bench.top_up.used_before(played.asked)
    traffic = Traffic(mode=mode, tape=played.tape, journal=earlier.journal if earlier else None)
    with ExitStack() as stack:
        grading = _grading(bench, task, stack)
        route, work = agent_stage(bench, task, traffic, stack, stop)
        topped_up = played.asked + route.topped_up
        timed = _as_timed(bench, recorded, work, topped_up=topped_up)
        timed = judged_work(bench, task, timed, stop, known=recorded.judged)
        evidence = Evidence.TOPPED_UP if topped_up else Evidence.REPLAYED
        evidence = Evidence.FAULTED if bench.faults else evidence
        trial, log = concluded(bench, task, recorded.n, timed, evidence, stop, grading=grading)
        trial = replace(_as_recorded(trial, recorded), topped_up=topped_up)
        if topped_up and bench.faults is None:
            trial = _sealed(bench, task, run, route=route, work=timed, trial=trial)
    missed = timed.witness.misses
    trial = replace(
        trial,
        artifacts=artifact_folder(task.id, recorded.n),
        unused_exchanges=work.witness.unused,
        diverged=missed[0].sentence if missed else "",
    )
    write_artifacts(run, trial, timed, log, bench.redactor)
    return _made(bench, trial, route, earlier, first=len(played.tape.exchanges) - played.asked)


def _made(bench: Bench, trial: Trial, route: Route, earlier: TakenUp | None, *, first: int) -> Made:
    """Return the trial with what is left to do once it is on disk: before, it can be lost.

    From its place ``first`` on the tape holds what earlier attempts had asked; what this one did
    not ask again was paid for all the same.
    """

    def on_disk() -> None:
        route.meter.settle()
        if earlier is not None:
            _drop(bench, route.tape.left(first) if route.tape else ())
            earlier.remove()

    return Made(trial=trial, settle=on_disk)


def _drop(bench: Bench, exchanges: Iterable[Exchange]) -> None:
    if bench.spending is not None:
        bench.spending.drop(spent_on(exchanges, bench.harness.config.prices))


def _sealed(
    bench: Bench, task: Task, run: RunFolder, *, route: Route, work: Work, trial: Trial
) -> Trial:
    sealed = route.seal(
        cassette_path(run, task.id, trial.key.n),
        header=_header(bench, task, trial),
        claim=work.claim.to_json(),
        record={"agent": work.to_json(), "measured": trial.measured()},
    )
    return replace(trial, cassette=sealed.digest)


def _as_timed(bench: Bench, recorded: RecordedTrial, work: Work, *, topped_up: int) -> Work:
    """Return the work of a replay: its time is the recorded one, its misses are explained."""
    header, harness = recorded.tape.header, bench.harness
    missed = tuple(explained(m, header=header, harness=harness) for m in work.witness.misses)
    return replace(
        work,
        seconds=work.seconds if topped_up else recorded.seconds,
        # A secret was taken out of the recording: nobody has the claim that would be graded.
        secret=work.secret or recorded.secret,
        witness=replace(work.witness, misses=missed),
    )


def regraded_trial(
    bench: Bench, task: Task, recorded: RecordedTrial, stop: threading.Event
) -> Trial:
    """Grade a recorded claim again: no agent, no model."""
    witness, log = witness_of(recorded.tape.exchanges), recorded.last_words.encode()
    work = Work(
        status=recorded.status,
        exit_code=recorded.exit_code,
        seconds=recorded.seconds,
        claim=recorded.claim,
        witness=witness,
        tripwires=tripped(
            bench,
            task,
            witness.trajectory,
            log=log,
            claim=recorded.claim,
            calls=recorded.calls,
            logged=recorded.logged,
        ),
        log=log,
        detail=recorded.detail,
        secret=recorded.secret,
        judged=recorded.judged,
    )
    grading = bench.provider_of(task)
    trial, _ = concluded(bench, task, recorded.n, work, Evidence.REGRADED, stop, grading=grading)
    return _as_recorded(trial, recorded)


def _as_recorded(trial: Trial, recorded: RecordedTrial) -> Trial:
    # What is compared are the recorded conditions; the checks are those of today.
    conditions = replace(recorded.conditions, checks=trial.conditions.checks)
    return replace(trial, cassette=recorded.tape.digest, conditions=conditions)


def plumbing_trial(
    bench: Bench, task: Task, tape: CassetteFile, stop: threading.Event
) -> str | None:
    """Let the agent run against a recording of another harness; say what is broken, if anything.

    Nothing is graded and nothing counts.
    """
    with ExitStack() as stack:
        traffic = Traffic(mode=Mode.STALE, tape=tape)
        _, work = agent_stage(bench, task, traffic, stack, stop)
    if work.status is not StageStatus.EXITED:
        return f"the agent stage ended with {work.status}"
    if not work.witness.exchanges:
        return f"the agent asked its model nothing: {work.last_words}"
    return f"the agent exited with {work.exit_code}: {work.last_words}" if work.exit_code else None


def _grading(bench: Bench, task: Task, stack: ExitStack) -> Sandboxes:
    """Return where the claim will be graded, made ready meanwhile if anything is run there."""
    provider = bench.provider_of(task)
    if not commands_of(task, bench.checks[task.id]):
        return provider
    return stack.enter_context(opened_ahead(provider))


def _header(bench: Bench, task: Task, trial: Trial) -> Header:
    return replace(
        bench.provenance,
        fingerprint=bench.harness.fingerprint,
        parts=dict(bench.harness.parts),
        task=task.id,
        task_digest=task.digest,
        series=bench.series,
        n=trial.key.n,
        evidence=trial.evidence,
        conditions=trial.conditions,
    )

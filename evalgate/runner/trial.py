"""One trial: agent stage, claim, grade stage, signals; live, replayed or regraded.

Tasks come here as their bench lays them out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace

from evalgate.core.claim import diff_lines, render_patch
from evalgate.core.exchange import Exchange
from evalgate.core.habits import asked_for_confirmation, repeated_calls
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.task import Task
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.charge import cost_of, spent_on
from evalgate.gateway.server import Mode, Route
from evalgate.gateway.witness.witness import witness_of
from evalgate.protocols import StageStatus
from evalgate.runner.agent_stage import Traffic, agent_stage
from evalgate.runner.artifacts import artifact_folder, cassette_path, write_artifacts
from evalgate.runner.bench import Bench
from evalgate.runner.causes import explained
from evalgate.runner.grade import grade, overall
from evalgate.runner.journals import TakenUp, ToppedUp, take_up, top_up
from evalgate.runner.made import Made
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.tripped import tripped
from evalgate.runner.work import Work, ungraded
from evalgate.store.runs import RunFolder


def live_trial(bench: Bench, task: Task, n: int, run: RunFolder, stop: threading.Event) -> Made:
    """Let the agent work with a real model, grade its claim, seal the recording.

    What a killed run had recorded of this trial is played first: it was paid for. Under faults
    nothing is sealed: nobody shall play a recording of what was broken on purpose.
    """
    evidence = Evidence.FAULTED if bench.faults else Evidence.MEASURED
    earlier = take_up(run, task.id, n)
    _drop(bench, earlier.dropped)
    mode = Mode.LIVE if earlier.tape is None else Mode.TOP_UP
    traffic = Traffic(mode=mode, tape=earlier.tape, journal=earlier.journal)
    with ExitStack() as stack:
        route, work = agent_stage(bench, task, traffic, stack, stop)
        trial, log = _conclude(bench, task, n, work, evidence, stop)
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
        route, work = agent_stage(bench, task, traffic, stack, stop)
        topped_up = played.asked + route.topped_up
        timed = _as_timed(bench, recorded, work, topped_up=topped_up)
        evidence = Evidence.TOPPED_UP if topped_up else Evidence.REPLAYED
        evidence = Evidence.FAULTED if bench.faults else evidence
        trial, log = _conclude(bench, task, recorded.n, timed, evidence, stop)
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
    )
    trial, _ = _conclude(bench, task, recorded.n, work, Evidence.REGRADED, stop)
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


def _conclude(
    bench: Bench, task: Task, n: int, work: Work, evidence: Evidence, stop: threading.Event
) -> tuple[Trial, str]:
    ended = ungraded(work, seconds=task.limits.agent_seconds)
    checks: tuple[CheckResult, ...] = ()
    log = ""
    if ended is None:
        graded = grade(
            bench.provider_of(task),
            task,
            bench.checks[task.id],
            work.claim,
            stop,
            bench.controls,
            redactor=bench.redactor,
        )
        checks, log = graded.checks, graded.log
        outcome, reason = overall(checks)
        if outcome is not Outcome.PASSED and work.detail:
            reason = f"{reason} ({work.detail})"
    else:
        outcome, reason = ended.outcome, bench.redactor.text(ended.reason)
    trial = Trial(
        task=task.id,
        key=TrialKey(
            task_digest=task.digest, fingerprint=bench.harness.fingerprint, series=bench.series, n=n
        ),
        outcome=outcome,
        reason=reason,
        checks=checks,
        signals=_signals(bench, task, work),
        conditions=Conditions(
            sandbox=bench.provider.name,
            agent=bench.agent.version,
            models=work.witness.served_models,
            checks={spec.type: check.version for spec, check in bench.checks[task.id]},
            images=bench.provider_of(task).images,
            promises=asdict(bench.provider.promises),
        ),
        evidence=evidence,
        patch=render_patch(task.workspace, work.claim),
        final_answer=work.witness.trajectory.final_answer or "",
        agent_exit=work.exit_code,
        faults=work.faults,
        tripwires=work.tripwires,
    )
    return trial, log


def _signals(bench: Bench, task: Task, work: Work) -> Signals:
    usage, trajectory = work.witness.usage, work.witness.trajectory
    touched = work.claim.touched
    return Signals(
        seconds=work.seconds,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_usd=cost_of(work.witness.exchanges, bench.harness.config.prices),
        turns=trajectory.turns,
        tool_calls=len(trajectory.calls),
        failed_tool_calls=sum(call.ok is False for call in trajectory.calls),
        diff_lines=diff_lines(task.workspace, work.claim),
        files_touched=len(touched),
        files_outside=sum(path not in task.expected_files for path in touched),
        repeated_calls=repeated_calls(trajectory),
        confirmations_asked=asked_for_confirmation(trajectory),
    )


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

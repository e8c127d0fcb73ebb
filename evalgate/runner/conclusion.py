"""What a trial came to: its claim graded, its signals counted, its conditions told."""

from __future__ import annotations

import threading
from dataclasses import asdict

from evalgate.core.claim import diff_lines, render_patch
from evalgate.core.habits import asked_for_confirmation, repeated_calls
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.task import Task
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial
from evalgate.gateway.limits.charge import cost_of
from evalgate.protocols import Sandboxes
from evalgate.runner.bench import Bench
from evalgate.runner.grade import grade, overall
from evalgate.runner.judging import judges_of, places_of
from evalgate.runner.work import Work, ungraded


def concluded(
    bench: Bench,
    task: Task,
    n: int,
    work: Work,
    evidence: Evidence,
    stop: threading.Event,
    *,
    grading: Sandboxes,
) -> tuple[Trial, str]:
    """Return the n-th trial of a task by what its agent did, and the output of its grading."""
    ended = ungraded(work, seconds=task.limits.agent_seconds)
    checks: tuple[CheckResult, ...] = ()
    log = ""
    if ended is None:
        bench.told("is graded")
        graded = grade(
            grading,
            task,
            bench.checks[task.id],
            work.claim,
            stop,
            bench.controls,
            redactor=bench.redactor,
            trajectory=work.witness.trajectory,
            judged=work.judged,
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
            judges=judges_of(work.judged),
            judged_at=places_of(bench, task) if work.judged else {},
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

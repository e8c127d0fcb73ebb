"""Fault plans by name or by file, and how the recorded trials came through one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalgate.commands.console import Console
from evalgate.commands.making.ended import Finished, Report
from evalgate.core.claim import render_patch
from evalgate.core.decision import worst
from evalgate.core.faults import FaultPlan, load_fault_plan
from evalgate.core.rates import counted
from evalgate.core.schema import Source
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import ExitCode, UsageError
from evalgate.gateway import plans
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.run import Job

_READY = Path(plans.__file__).parent


def ready_plans() -> tuple[str, ...]:
    """Return the names of the plans that come with evalgate."""
    return tuple(sorted(path.stem for path in _READY.glob("*.toml")))


def open_plan(name: str) -> FaultPlan:
    """Read a plan: one that comes with evalgate, by its name, or a file.

    UsageError names what is wrong in it, or the plans there are.
    """
    path = _READY / f"{name}.toml" if name in ready_plans() else Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        message = f"--faults {name}: {getattr(error, 'strerror', None) or error}"
        hint = f"name a file, or one of: {', '.join(ready_plans())}"
        raise UsageError(message, hint=hint) from error
    return load_fault_plan(Source(name if path.parent == _READY else str(path), text))


def announce_plan(plan: FaultPlan, console: Console) -> None:
    """Say, however quiet, that nothing of this counts."""
    console.warn(f"faults: {plan.name}: these trials show what the agent bears, and never count")


def report_faults(finished: Finished, jobs: Sequence[Job]) -> Report:
    """Say how each trial came through its faults, against what was recorded.

    Exit 1 when one of them ended otherwise than its recording, 7 when an agent asked something
    after a fault that it had not asked before, 4 when one was not measured, 5 when no fault
    fired at all.
    """
    then = {(job.task.id, job.n): job for job in jobs}
    lines: list[str] = []
    codes: list[ExitCode] = []
    for trial in finished.trials:
        job = then[trial.task, trial.key.n]
        code, words = _came_through(trial, job, job.recorded)
        fired = "; ".join(trial.faults) or "no fault fired"
        lines.append(f"{trial.task} #{trial.key.n}: {words}: {fired}")
        codes.append(code)
    hit = sum(bool(trial.faults) for trial in finished.trials)
    if not hit:
        codes.append(ExitCode.NOTHING_RAN)
    good = codes.count(ExitCode.OK)
    closing = f"under faults: {good} of {counted(len(finished.trials), 'trial')} ended as recorded"
    told = f"{closing}; {hit} met a fault"
    return Report(exit_code=worst(codes), finished=finished, problems=tuple(lines), closing=told)


def report_live_faults(finished: Finished) -> Report:
    """Say what became of live trials under faults; there is nothing to compare them with."""
    lines = [
        f"{t.task} #{t.key.n}: {t.outcome}: {'; '.join(t.faults) or 'no fault fired'}"
        for t in finished.trials
    ]
    hit = sum(bool(trial.faults) for trial in finished.trials)
    return Report(
        exit_code=ExitCode.OK if hit else ExitCode.NOTHING_RAN,
        finished=finished,
        problems=tuple(lines),
        closing=(
            f"under faults: {hit} of {counted(len(finished.trials), 'trial')} met a fault; "
            "none counts"
        ),
    )


def _came_through(trial: Trial, job: Job, recorded: RecordedTrial | None) -> tuple[ExitCode, str]:
    if recorded is None:
        raise ValueError("a replay is of a recorded trial")
    was = str(recorded.measured.get("outcome"))
    if trial.diverged:
        return ExitCode.DIVERGED, f"diverged ({trial.diverged})"
    if trial.outcome is Outcome.ERRORED and was != Outcome.ERRORED:
        return ExitCode.NOT_MEASURED, f"not measured ({trial.reason})"
    if str(trial.outcome) != was:
        return ExitCode.REGRESSION, f"{was} → {trial.outcome} ({trial.reason})"
    if trial.patch != render_patch(job.task.workspace, recorded.claim):
        return ExitCode.REGRESSION, f"{was}, with another claim"
    return ExitCode.OK, f"{was}, as recorded"

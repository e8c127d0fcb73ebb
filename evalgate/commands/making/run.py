"""`evalgate run`: live trials of the harness of one state, in sandboxes, with a real model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from evalgate.commands.console import Console
from evalgate.commands.faults import announce_plan, open_plan, report_live_faults
from evalgate.commands.making.budget import budget_of, require_prices
from evalgate.commands.making.ended import Finished, Report
from evalgate.commands.making.estimate import estimate, foreseen
from evalgate.commands.making.trials import (
    Request,
    default_workers,
    make_trials,
)
from evalgate.commands.policy_tasks import require_policy_tasks
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.publication import (
    Publication,
    open_publication,
    publication_warning,
    recorded_before,
)
from evalgate.core.faults import FaultPlan
from evalgate.core.harness import Harness
from evalgate.core.rates import counted
from evalgate.core.task import Task
from evalgate.errors import ExitCode, UsageError
from evalgate.runner.run import Job
from evalgate.wiring import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the command line says about a run; None takes the configuration's word."""

    rev: str | None = None
    tasks: Sequence[str] = ()
    trials: int | None = None
    record: bool = False
    again: bool = False
    fresh: bool = False
    workers: int | None = None
    sandbox: str | None = None
    max_usd: float | None = None
    dry_run: bool = False
    faults: str | None = None


def run(project: Project, options: RunOptions, console: Console) -> Report:
    """Make live trials; exit 4 when too many of them were not measured."""
    with ExitStack() as stack:
        state = stack.enter_context(open_state(project, subject_of(options.rev)))
        harness = state.harness
        tasks = state.selected(options.tasks)
        if not options.tasks:
            require_policy_tasks(state)
        count = options.trials or state.config.trials
        jobs = [Job(task=task, n=n) for task in tasks for n in range(1, count + 1)]
        publication = None
        if options.record:
            opening = open_publication(state, harness, retire=options.rev is None)
            publication = stack.enter_context(opening)
        before = recorded_before(state, harness.fingerprint)
        if options.record:
            _check_record(options, tasks, state.tasks, harness, before, state.config.trials)
        plan = _plan(options, console)
        budget = budget_of(state.config, options.max_usd)
        require_prices(harness, budget, tasks)
        console.note(
            f"harness {harness.short} of {harness.label}: {counted(len(tasks), 'task')} × {count}"
        )
        cost = estimate(state, harness, tasks, len(jobs))
        if not options.tasks:
            for warning in foreseen(state):
                console.warn(warning)
        if options.dry_run:
            return Report(exit_code=ExitCode.OK, closing=cost)
        console.note(cost)
        request = Request(
            kind=Kind.RUN,
            harness=harness,
            tasks=tasks,
            jobs=jobs,
            workers=options.workers or default_workers(),
            sandbox=options.sandbox or state.config.sandbox.use,
            budget=budget,
            faults=plan,
            fresh=options.fresh,
            recording=before + 1,
        )
        conclude = partial(_conclude, state, publication, console)
        finished = make_trials(state, request, console, conclude=conclude)
        if plan is not None:
            return report_live_faults(finished)
        code = ExitCode.NOT_MEASURED if _unmeasured(state, finished) else ExitCode.OK
        return Report(exit_code=code, finished=finished)


def _conclude(
    state: State, publication: Publication | None, console: Console, finished: Finished
) -> None:
    """Publish what was recorded; the run is finished only then, so that it goes on from here."""
    console.note(f"run {finished.run.id}")
    if publication is None:
        return
    if _unmeasured(state, finished):
        console.warn("not recorded: too many trials were not measured")
        return
    if warning := publication_warning(state, state.harness):
        console.warn(warning)
    folder = publication.publish(finished.run, finished.trials)
    console.note(f"recorded {counted(len(finished.trials), 'trial')} in {folder}")


def _unmeasured(state: State, finished: Finished) -> bool:
    sample = finished.sample
    return state.config.policy.not_measured(sample.errored, len(sample.rows))


def _plan(options: RunOptions, console: Console) -> FaultPlan | None:
    if options.faults is None:
        return None
    if options.record:
        message = "trials under faults are not recorded: they show nothing but what an agent bears"
        raise UsageError(message, hint="leave --record or --faults out")
    plan = open_plan(options.faults)
    announce_plan(plan, console)
    return plan


def _check_record(
    options: RunOptions,
    tasks: Sequence[Task],
    suite: Sequence[Task],
    harness: Harness,
    before: int,
    trials: int,
) -> None:
    if len(tasks) != len(suite):
        message = "--record takes the whole suite: a partial set of recordings proves nothing"
        raise UsageError(message, hint="leave the task selection out")
    if options.trials is not None and options.trials < trials:
        message = f"--record takes {counted(trials, 'trial')} of each task, as the suite asks for"
        raise UsageError(message, hint="leave -k out")
    if before and not options.again:
        message = f"this harness ({harness.short}) is recorded already, {counted(before, 'time')}"
        raise UsageError(message, hint="--again records it anew; the baseline will say so")

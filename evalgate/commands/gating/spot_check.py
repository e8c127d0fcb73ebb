"""`evalgate gate --spot-check`: a few of the head's recorded trials, made anew with the model."""

from __future__ import annotations

from dataclasses import replace

from evalgate.commands.gating.evidence import Gathering, HeadTrials, hits_of
from evalgate.commands.gating.live_request import (
    account_of,
    live_request,
    made_before,
    require_known_upstreams,
)
from evalgate.commands.making.account import holding
from evalgate.commands.making.trials import make_trials
from evalgate.core.counts import TaskCounts
from evalgate.core.identity import Conditions
from evalgate.core.rates import counted
from evalgate.core.sample import Sample, sample_of
from evalgate.core.spotcheck import drawn, flatters
from evalgate.core.trial import Evidence, Outcome
from evalgate.report.numbers import chance
from evalgate.runner.run import Job
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind

_SERIES = "spot-check-1"


def spot_checked(it: Gathering, head: HeadTrials) -> HeadTrials:
    """Return the head's recorded trials as spot-checked, with a doubt where they flatter.

    Which trials are made anew is drawn by the head's commit. What was made for the same draw is
    taken again, so that nobody repeats a check until it comes out well; unless it errored, or was
    made under other conditions than the recordings. All checks of the harness made here count
    together: another commit of it draws others, and takes none back.

    Raises:
        UsageError: the change sends its requests somewhere the base does not, or another gate of
            the same pair is under way.
    """
    require_known_upstreams(it)
    with holding(it.state.project, account_of(it)):
        return _checked(it, head)


def _checked(it: Gathering, head: HeadTrials) -> HeadTrials:
    policy = it.base.config.policy
    deciding = head.sample.without(policy.quarantined).tasks
    recorded = {name: len(task.measured) for name, task in deciding.items()}
    seed = it.state.view.commit or it.harness.fingerprint
    counts = drawn(recorded, seed=seed)
    tasks = [task for task in it.tasks if task.id in counts]
    jobs = [Job(task=task, n=n) for task in tasks for n in range(1, counts[task.id] + 1)]
    request = replace(live_request(it, Kind.CONFIRM, jobs), tasks=tasks, series=_SERIES)
    trials = made_before(it, request, conditions=head.sample.conditions)
    if trials is None:
        it.console.note(
            f"spot check: {counted(len(jobs), 'trial')} of {counted(len(tasks), 'task')}, made anew"
        )
        trials = make_trials(it.state, request, it.console).trials
    fresh = sample_of(trials, fingerprint=it.harness.fingerprint, evidence=Evidence.MEASURED)
    if policy.not_measured(fresh.errored, len(fresh.rows)):
        words = f"{fresh.errored} of {counted(len(fresh.rows), 'trial')} of the spot check errored"
        return replace(head, unchecked=words)
    unequal = head.sample.conditions.differences(fresh.conditions)
    if unequal:
        return replace(head, unchecked=f"recorded under other conditions: {unequal[0]}")
    unrecorded = [name for name in head.sample.tasks if not recorded.get(name)]
    fresh = _of_every_check(it, fresh.conditions).without(unrecorded)
    p = flatters(
        [
            TaskCounts(
                task=name,
                base_passed=head.sample.tasks[name].passed,
                base_runs=recorded[name],
                head_passed=task.passed,
                head_runs=len(task.measured),
            )
            for name, task in fresh.tasks.items()
        ]
    )
    doubts = head.doubts
    if p is not None:
        passed = sum(head.sample.tasks[name].passed for name in fresh.tasks)
        runs = sum(recorded[name] for name in fresh.tasks)
        doubts += (
            f"spot check: {passed} of {counted(runs, 'recorded trial')} passed, and "
            f"{fresh.passed} of {fresh.measured} made anew (mid-p {chance(p)})",
        )
    sample = replace(head.sample, evidence=Evidence.SPOT_CHECKED)
    return replace(head, sample=sample, doubts=doubts, hits=(*head.hits, *hits_of(trials)))


def _of_every_check(it: Gathering, conditions: Conditions) -> Sample:
    """Return what spot checks of the head's harness measured here under these conditions."""
    digests = {task.id: task.digest for task in it.tasks}
    trials = [
        trial
        for run in RunStore(it.state.project.state).finished()
        if (run.plan.series, run.plan.fingerprint) == (_SERIES, it.harness.fingerprint)
        for trial in run.trials
        if trial.outcome is not Outcome.ERRORED
        and digests.get(trial.task) == trial.key.task_digest
        and not conditions.differences(trial.conditions)
    ]
    return sample_of(trials, fingerprint=it.harness.fingerprint, evidence=Evidence.MEASURED)

"""`evalgate compare A B`: two runs, harnesses or revisions, judged by what is known of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evalgate.commands.baselines.release import beside_release
from evalgate.commands.making.cost import recounted
from evalgate.commands.project import Project, open_state
from evalgate.commands.telling.named_trials import unfinished
from evalgate.core.baseline import pool
from evalgate.core.judgement import judge
from evalgate.core.sample import Sample, sample_of, without_retried
from evalgate.core.trial import Evidence
from evalgate.core.verdict import Verdict
from evalgate.errors import EvalgateError, UsageError
from evalgate.repo.subject import Subject, SubjectKind
from evalgate.report.verdict import Story, render_verdict
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind

_FINGERPRINT = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the one-stage rule says of two samples, and its page. It gates nothing."""

    verdict: Verdict
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One of two sides: its trials, and what they are of."""

    sample: Sample
    said: str
    unfinished: str = ""


def compare(project: Project, base: str, head: str) -> Compared:
    """Compare two sides by what was measured of them; nothing is run.

    Each is the id of a run (or the start of one, or ``latest``), the first eight or more hex of
    a harness that has a baseline or was run live here, or a revision whose harness was. Policy
    and, where its models have but one, price are those of the work tree.

    Raises:
        UsageError: one of them names nothing that was measured.
    """
    sides = [_side(project, name) for name in (base, head)]
    with open_state(project, Subject(kind=SubjectKind.WORKTREE)) as state:
        # One table of prices for both, or a price that was edited would look like a dearer edit.
        base_sample, head_sample = (
            recounted(one.sample, state.config) or one.sample for one in sides
        )
        verdict = judge(base_sample, head_sample, state.config.policy)
        verdict, anchor = beside_release(verdict, state)
    how = "named on the command line"
    same = head_sample.is_within(base_sample) or base_sample.is_within(head_sample)
    notes = (
        *["both sides are the same numbers: they say nothing of one another"] * same,
        *(f"{one.said}: {one.unfinished}" for one in sides if one.unfinished),
    )
    verdict = replace(verdict, context={**verdict.context, "same_numbers": same})
    story = Story(base=sides[0].said, head=sides[1].said, how=how, anchor=anchor, notes=notes)
    return Compared(verdict=verdict, page=render_verdict(verdict, story))


def _side(project: Project, name: str) -> _Side:
    if not name.strip():
        message = "a side of the comparison has no name"
        raise UsageError(message, hint="name a run, a measured harness or a revision")
    run = _run(project, name)
    if run is not None:
        return _of_run(run)
    found = _of_fingerprint(project, name) if _FINGERPRINT.fullmatch(name) else None
    return found or _of_revision(project, name)


def _run(project: Project, name: str) -> RunFolder | None:
    try:
        return RunStore(project.state).find(name)
    except UsageError:
        return None


def _of_run(run: RunFolder) -> _Side:
    fingerprint, evidence = run.plan.fingerprint, run.plan.evidence
    trials = [one for one in run.trials if one.key.fingerprint == fingerprint]
    if not evidence.counts:
        message = f"run {run.id} is {evidence}: its numbers can not be compared"
        raise UsageError(message, hint="measure the harness: evalgate run")
    sample = sample_of(trials, fingerprint=fingerprint, evidence=evidence)
    said = f"run {run.id}, harness {fingerprint[:16]}"
    return _Side(sample=sample, said=said, unfinished=unfinished(run))


def _of_fingerprint(project: Project, name: str) -> _Side | None:
    """Return a harness's baseline, or without one its live runs made here."""
    with open_state(project, Subject(kind=SubjectKind.WORKTREE)) as state:
        known = {one.sample.fingerprint for one in state.baselines()}
        known |= {run.plan.fingerprint for run in _live_runs(project)}
        found = sorted(one for one in known if one.startswith(name))
        if len(found) > 1:
            message = f"{name} names {len(found)} harnesses that were measured"
            raise UsageError(message, hint=f"more of it: {', '.join(one[:16] for one in found)}")
        if not found:
            return None
        sample = pool(state.baselines(found[0]))
    if sample is None:
        return _of_runs(project, found[0])
    return _Side(sample=sample, said=f"the baseline of harness {sample.fingerprint[:16]}")


def _live_runs(project: Project) -> list[RunFolder]:
    return [run for run in RunStore(project.state).finished() if run.plan.kind == Kind.RUN]


def _of_runs(project: Project, fingerprint: str) -> _Side:
    """Return the live runs of a harness made here that have the conditions of the newest."""
    runs = [run for run in _live_runs(project) if run.plan.fingerprint == fingerprint]
    today = _of_run(runs[-1]).sample.conditions
    alike = [run for run in runs if not today.differences(_of_run(run).sample.conditions)]
    trials = without_retried([run.trials for run in alike])
    sample = sample_of(trials, fingerprint=fingerprint, evidence=Evidence.MEASURED)
    many = "the live run" if len(alike) == 1 else f"{len(alike)} live runs"
    return _Side(sample=sample, said=f"{many} of harness {fingerprint[:16]} made here")


def _of_revision(project: Project, name: str) -> _Side:
    try:
        with open_state(project, Subject.parse(name)) as state:
            fingerprint = state.fingerprint.digest
            sample = pool(state.baselines(fingerprint))
    except EvalgateError as error:
        message = f"{name!r} names no run, no measured harness and no revision: {error.message}"
        raise UsageError(message, hint="evalgate show lists the runs") from error
    if sample is None:
        # A baseline is committed after what it measures: the work tree may have it.
        found = _of_fingerprint(project, fingerprint)
        if found is not None:
            return found
        message = f"the harness of {name} ({fingerprint[:16]}) was not measured"
        raise UsageError(message, hint=f"evalgate run --rev {name}, then compare the run")
    return _Side(sample=sample, said=f"the baseline of {name}, harness {fingerprint[:16]}")

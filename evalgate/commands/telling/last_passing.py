"""The last trial of each task that passed: what a failing one is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalgate.commands.project import State
from evalgate.commands.telling.courses import Courses
from evalgate.commands.telling.trial_page import read_page
from evalgate.core.baseline import Baseline
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import UsageError
from evalgate.report.run_report import Reference
from evalgate.report.trial_page import TrialPage
from evalgate.store.runs import RunFolder, RunStore

#: So many earlier runs are looked through.
_RUNS = 200


def last_passing(
    store: RunStore,
    run: RunFolder,
    trials: Sequence[Trial],
    baselines: Sequence[Baseline],
    shelf: Path | None,
    pages: Mapping[tuple[str, int], TrialPage],
) -> dict[str, Reference]:
    """Return the newest passing trial of each task, in the form that the trials are of.

    Those of this run come first, then earlier runs of this clone, then the patches of committed
    baselines. Tasks that never passed are left out.
    """
    wanted = {trial.task: trial.key.task_digest for trial in trials}
    found: dict[str, Reference] = {}
    for trial in trials:
        if trial.outcome is Outcome.PASSED:
            page = pages.get((trial.task, trial.key.n))
            found[trial.task] = Reference(where=run.id, n=trial.key.n, patch=trial.patch, page=page)
    earlier = [one for one in store.all() if one.id < run.id][-_RUNS:]
    for other in reversed(earlier):
        left = wanted.keys() - found.keys()
        if not left:
            break
        for trial in _trials(other):
            known = trial.task in left and wanted[trial.task] == trial.key.task_digest
            if known and trial.outcome is Outcome.PASSED and trial.evidence.counts:
                page = read_page(other, trial, shelf, wire=False)
                found[trial.task] = Reference(
                    where=other.id, n=trial.key.n, patch=trial.patch, page=page
                )
    for baseline in sorted(baselines, key=lambda one: one.provenance.date, reverse=True):
        for task in wanted.keys() - found.keys():
            known_task = baseline.sample.tasks.get(task)
            if known_task and known_task.passing_patch and known_task.digest == wanted[task]:
                patch = known_task.passing_patch
                found[task] = Reference(where=baseline.filename, n=0, patch=patch)
    return found


def with_recordings(
    references: Mapping[str, Reference], baselines: Sequence[Baseline], state: State
) -> dict[str, Reference]:
    """Add to trials of baselines what recordings in a state of the project tell of them."""
    told = dict(references)
    for baseline in baselines:
        courses = Courses(state=state, fingerprint=baseline.sample.fingerprint)
        for task, one in references.items():
            if one.where != baseline.filename:
                continue
            rows = baseline.sample.tasks[task].rows
            course = courses.of(task, [row for row in rows if row.outcome is Outcome.PASSED])
            if course is not None:
                told[task] = replace(one, page=TrialPage(trajectory=course))
    return told


def _trials(run: RunFolder) -> tuple[Trial, ...]:
    try:
        return run.trials
    except UsageError:  # what can not be read is left alone
        return ()

"""`evalgate report`: one run, with what is known of its tasks and of the runs before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.commands.telling.here import here_of
from evalgate.commands.telling.last_passing import last_passing, with_recordings
from evalgate.commands.telling.named_trials import find_trials, unfinished
from evalgate.commands.telling.trial_page import read_page
from evalgate.core.baseline import Baseline
from evalgate.core.json import JsonObject
from evalgate.core.patch import render_difference
from evalgate.core.sample import sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import UsageError
from evalgate.repo.subject import Subject
from evalgate.report.run_report import Point, Reference, RunReport
from evalgate.store.runs import RunFolder, RunStore
from evalgate.store.verdicts import read_verdict

#: So many points of time are shown at most, the newest.
_POINTS = 60


def run_report(project: Project, name: str) -> RunReport:
    """Gather everything a report shows of ``RUN[:TASK[:N]]``; UsageError when there is no such.

    What the work tree says of tags and baselines is of today; where it can not be read, the
    report says so.
    """
    store = RunStore(project.state)
    named = find_trials(store, name)
    run, trials = named.run, tuple(sorted(named.trials, key=lambda one: (one.task, one.key.n)))
    here = here_of(project)
    pages = {(t.task, t.key.n): read_page(run, t, here.shelf) for t in trials}
    references = last_passing(store, run, trials, here.baselines, here.shelf, pages)
    verdict = _verdict(project.state, run)
    references = _recorded(project, verdict, references, here.baselines)
    return RunReport(
        project=project.root.resolve().name,
        run=run.id,
        info=run.info,
        trials=trials,
        verdict=verdict,
        tags={task: here.tasks[task].tags for task in {t.task for t in trials} & {*here.tasks}},
        timeline=_timeline(store, run, here.baselines),
        pages=pages,
        references=references,
        differences=_differences(trials, references, here.tasks),
        missing=named.missing,
        notes=(*filter(None, [unfinished(run)]), *here.notes),
    )


def _verdict(state: Path, run: RunFolder) -> JsonObject | None:
    """Return the newest verdict where it is of this run, or of its harness."""
    try:
        found = read_verdict(state)
        if found is None or found.get("run"):
            return found if found is not None and found["run"] == run.id else None
        return found if found["head"]["fingerprint"] == run.plan.fingerprint else None
    except (LookupError, TypeError, UsageError):
        return None


def _recorded(
    project: Project,
    verdict: JsonObject | None,
    references: dict[str, Reference],
    baselines: Sequence[Baseline],
) -> dict[str, Reference]:
    """Add what recordings tell of baselines: those of the base, or else of the work tree."""
    if not any(one.of_baseline for one in references.values()):
        return references
    base = None if verdict is None else verdict.get("base")
    commit = base.get("commit") if isinstance(base, dict) else None
    try:
        subject = Subject.parse(commit) if isinstance(commit, str) and commit else WORKTREE
        with open_state(project, subject) as state:
            return with_recordings(references, baselines, state)
    except UsageError:  # the report is worse without them, and not wrong
        return references


def _timeline(
    store: RunStore, current: RunFolder, baselines: Sequence[Baseline]
) -> tuple[Point, ...]:
    """Return committed baselines, and the runs made here up to this one, in order of time."""
    points = [
        Point(
            kind="baseline",
            name=one.filename,
            date=one.provenance.date,
            sample=one.sample,
        )
        for one in baselines
    ]
    for run in [one for one in store.all() if one.id <= current.id][-_POINTS:]:
        point = _point(run, current)
        if point is not None:
            points.append(point)
    return tuple(sorted(points, key=lambda one: (one.date, one.current))[-_POINTS:])


def _point(run: RunFolder, current: RunFolder) -> Point | None:
    try:
        info, trials, plan = run.info, run.trials, run.plan
        date = str(info.get("times", {}).get("started") or _stamp(run.id))
    except (UsageError, LookupError, TypeError, ValueError, AttributeError):
        return None
    trials = tuple(trial for trial in trials if trial.key.fingerprint == plan.fingerprint)
    shown = plan.evidence.counts and info.get("finished")
    if not trials or not (shown or run.id == current.id):
        return None
    sample = sample_of(trials, fingerprint=plan.fingerprint, evidence=plan.evidence)
    is_current = run.id == current.id
    return Point(kind="run", name=run.id, date=date, sample=sample, current=is_current)


def _stamp(name: str) -> str:
    """Return the time that the name of a run begins with."""
    return f"{name[:4]}-{name[4:6]}-{name[6:8]}T{name[9:11]}:{name[11:13]}:{name[13:15]}+00:00"


def _differences(
    trials: Sequence[Trial], references: Mapping[str, Reference], tasks: Mapping[str, Task]
) -> dict[tuple[str, int], str]:
    """Return how each output differs from the last passing one, where the start is known."""
    found = {}
    for trial in trials:
        task, reference = tasks.get(trial.task), references.get(trial.task)
        if task is None or reference is None or task.digest != trial.key.task_digest:
            continue
        if trial.outcome is Outcome.PASSED:
            continue
        try:
            text = render_difference(task.workspace, reference.patch, trial.patch)
        except ValueError:  # the patch is of another start, whatever the digests say
            continue
        found[trial.task, trial.key.n] = text
    return found

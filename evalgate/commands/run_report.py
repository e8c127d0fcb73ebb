"""`evalgate report`: one run, with what is known of its tasks and of the runs before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalgate.commands.last_passing import last_passing
from evalgate.commands.named_trials import find_trials
from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.commands.trial_page import read_page
from evalgate.core.baseline import Baseline
from evalgate.core.json import JsonObject
from evalgate.core.patch import render_difference
from evalgate.core.sample import sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Outcome, Trial
from evalgate.errors import UsageError
from evalgate.report.run_report import Point, Reference, RunReport
from evalgate.store.runs import RunFolder, RunStore

#: So many points of time are shown at most, the newest.
_POINTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Here:
    """What the work tree says: tasks by name, baselines, and where recordings lie."""

    tasks: Mapping[str, Task]
    baselines: tuple[Baseline, ...] = ()
    shelf: Path | None = None
    notes: tuple[str, ...] = ()


def run_report(project: Project, name: str) -> RunReport:
    """Gather everything a report shows of ``RUN[:TASK[:N]]``; UsageError when there is no such.

    What the work tree says of tags and baselines is of today; where it can not be read, the
    report says so.
    """
    store = RunStore(project.state)
    named = find_trials(store, name)
    run, trials = named.run, tuple(sorted(named.trials, key=lambda one: (one.task, one.key.n)))
    here = _here(project)
    pages = {(t.task, t.key.n): read_page(run, t, here.shelf) for t in trials}
    references = last_passing(store, run, trials, here.baselines, here.shelf, pages)
    return RunReport(
        project=project.root.resolve().name,
        run=run.id,
        info=run.info,
        trials=trials,
        verdict=_verdict(project.state, run),
        tags={task: here.tasks[task].tags for task in {t.task for t in trials} & {*here.tasks}},
        timeline=_timeline(store, run, here.baselines),
        pages=pages,
        references=references,
        differences=_differences(trials, references, here.tasks),
        notes=here.notes,
    )


def _here(project: Project) -> _Here:
    try:
        with open_state(project, WORKTREE) as state:
            return _Here(
                tasks={task.id: task for task in state.tasks},
                baselines=state.baselines(),
                shelf=state.shelf.folder,
            )
    except UsageError as error:
        note = f"tags, baselines and recordings of the work tree are left out: {error.message}"
        return _Here(tasks={}, notes=(note,))


def _verdict(state: Path, run: RunFolder) -> JsonObject | None:
    """Return the newest verdict where it is of this run, or of its harness."""
    try:
        found: Any = json.loads(
            (state / "verdict.json").read_bytes(), parse_constant=lambda _: None
        )
        if found.get("run") == run.id:
            return dict(found)
        same = found["head"]["fingerprint"] == run.info["plan"]["fingerprint"]
        return dict(found) if same and not found.get("run") else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


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
        info, trials = run.info, run.trials
        plan = info["plan"]
        evidence, fingerprint = Evidence(plan["evidence"]), str(plan["fingerprint"])
        date = str(info.get("times", {}).get("started") or _stamp(run.id))
    except (UsageError, LookupError, TypeError, ValueError, AttributeError):
        return None
    trials = tuple(trial for trial in trials if trial.key.fingerprint == fingerprint)
    shown = evidence.counts and info.get("finished")
    if not trials or not (shown or run.id == current.id):
        return None
    sample = sample_of(trials, fingerprint=fingerprint, evidence=evidence)
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

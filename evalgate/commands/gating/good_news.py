"""News too good to be true: marked in the verdict, with the trials to read before believing it."""

from __future__ import annotations

from shlex import quote

from evalgate.commands.project import Project
from evalgate.commands.telling.named_trials import name_trial
from evalgate.core.change import Change
from evalgate.core.decision import Decision
from evalgate.core.trial import Outcome
from evalgate.core.verdict import Verdict
from evalgate.store.runs import RunStore

#: So many tasks are named; the table of tasks has all.
_NAMED = 3


def good_news(verdict: Verdict, project: Project) -> tuple[str, ...]:
    """Return a line for each task that passes for the first time, or that made the suite rise.

    Each names the command that shows a trial that passed, with its trajectory.
    """
    if verdict.head is None:
        return ()
    first = verdict.of(Change.FIRST_PASS)
    rose = verdict.of(Change.ROSE) if verdict.decision is Decision.IMPROVED else ()
    if first:
        doubt = "never passed before: read how it passes now"
    else:
        doubt = "rose beyond chance: read how it passes now"
    lines = []
    for change in (first or rose)[:_NAMED]:
        command = _command(project, verdict.head.fingerprint, change.task)
        if command:
            lines.append(f"{change.task} {doubt}: {command}")
    return tuple(lines)


def _command(project: Project, fingerprint: str, task: str) -> str:
    """Return the command that shows a passing trial, the newest whose trajectory is here.

    Trials that were graded again have none: of them the recording is shown. Nothing where there
    is no passing trial.
    """
    found = ""
    for run, trial in RunStore(project.state).trials_of(fingerprint):
        if trial.task != task or trial.outcome is not Outcome.PASSED:
            continue
        if trial.artifacts:
            return f"evalgate show {quote(name_trial(run, trial))}"
        found = found or f"evalgate cassette show {quote(f'{task}:{trial.key.n}')}"
    return found

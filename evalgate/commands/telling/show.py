"""`evalgate show`: the runs there are, one run, one task of it, one trial as a story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from evalgate.commands.answer import Answer
from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.commands.tables import WIDE, render_rows, render_sample
from evalgate.commands.telling.named_trials import NamedTrials, find_trials, name_trial, unfinished
from evalgate.commands.telling.trial_page import read_page
from evalgate.core.json import Json, JsonObject
from evalgate.core.plain import shortened
from evalgate.core.sample import sample_of
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import UsageError
from evalgate.report.trial_page import TrialPage
from evalgate.report.trial_story import SHORT, Detail, TrialStory, first_unpassed, render_story
from evalgate.runner.grade import HIDDEN_TESTS
from evalgate.store.runs import RunFolder, RunStore


def show(project: Project, name: str | None) -> Answer:
    """Return what ``RUN[:TASK[:N]]`` names, or the list of runs."""
    store = RunStore(project.state)
    if name is None:
        return _list(store)
    named = find_trials(store, name)
    named = replace(named, trials=tuple(sorted(named.trials, key=_place)))
    text = _task(project, named) if named.task else _run(named.run, named.trials)
    return Answer(text=text, value=_value(named))


def _place(trial: Trial) -> tuple[str, int]:
    return trial.task, trial.key.n


def tell_trial(
    run: RunFolder,
    trial: Trial,
    shelf: Path | None,
    *,
    others: Sequence[Trial] = (),
    detail: Detail = SHORT,
) -> str:
    """Return the story of a trial; ``others`` are of its run, ``shelf`` is as for `read_page`."""
    page = read_page(run, trial, shelf, wire=False)
    passing = next(
        (
            name_trial(run, one)
            for one in others
            if (one.task, one.outcome) == (trial.task, Outcome.PASSED)
        ),
        "",
    )
    story = TrialStory(
        place=name_trial(run, trial),
        trial=trial,
        page=page,
        passing=passing,
        grading=_grading(trial, page),
        files=str(run.artifacts / trial.artifacts) if trial.artifacts else "",
        detail=detail,
    )
    return render_story(story)


def _grading(trial: Trial, page: TrialPage) -> str:
    """Return what was printed about the check that failed first."""
    first = first_unpassed(trial)
    if first is None:
        return ""
    # The hidden tests come first; what other checks ran stands behind them.
    return page.grading.partition("\n$ ")[0] if first.name == HIDDEN_TESTS else page.grading


def _task(project: Project, named: NamedTrials) -> str:
    """Tell one trial: the first that did not pass, or the first; of others say how they ended."""
    trials = named.trials
    told = next((one for one in trials if one.outcome is not Outcome.PASSED), trials[0])
    story = tell_trial(named.run, told, _shelf(project), others=named.run.trials)
    if said := unfinished(named.run):
        story = f"⚠ {said}\n\n{story}"
    if len(trials) == 1:
        return story
    rows = [
        (
            name_trial(named.run, one),
            str(one.outcome),
            shortened(" ".join(one.reason.split()), WIDE),
        )
        for one in trials
    ]
    return f"{render_rows([('trial', 'outcome', 'why'), *rows])}\n\n{story}"


def _shelf(project: Project) -> Path | None:
    try:
        with open_state(project, WORKTREE) as state:
            return state.shelf.folder
    except UsageError:  # the run can be told all the same
        return None


def _value(named: NamedTrials) -> JsonObject:
    plan = named.run.plan
    return {
        "run": named.run.id,
        "fingerprint": plan.fingerprint,
        "sandbox": plan.sandbox,
        "unfinished": unfinished(named.run),
        "trials": [trial.to_json() for trial in named.trials],
    }


def _list(store: RunStore) -> Answer:
    rows = [_state(run) for run in store.all()]
    cells = [("run", "trials", "state"), *(_cells(row) for row in rows)]
    text = render_rows(cells) if rows else "there is no run yet: evalgate run"
    return Answer(text=text, value={"runs": [*rows]})


def _state(run: RunFolder) -> JsonObject:
    state: dict[str, Json] = {"run": run.id, "made": None, "planned": None, "finished": None}
    try:
        made, planned = len(run.trials), len(run.plan.trials)
        finished = bool(run.info["finished"])
    except (UsageError, KeyError, TypeError) as error:
        return {**state, "problem": f"can not be read: {error}"}
    return {**state, "made": made, "planned": planned, "finished": finished, "problem": ""}


def _cells(row: JsonObject) -> tuple[str, str, str]:
    if row["problem"]:
        return str(row["run"]), "?", str(row["problem"])
    state = "finished" if row["finished"] else "unfinished"
    return str(row["run"]), f"{row['made']}/{row['planned']}", state


def _run(run: RunFolder, trials: Sequence[Trial]) -> str:
    plan = run.plan
    sample = sample_of(trials, fingerprint=plan.fingerprint, evidence=plan.evidence)
    head = f"{run.id}\nharness {plan.fingerprint[:16]}, sandbox {plan.sandbox}"
    if said := unfinished(run):
        head += f"\n⚠ {said}"
    told = next((one for one in trials if one.outcome is not Outcome.PASSED), trials[0])
    named = f"evalgate show {quote(name_trial(run, told))}"
    return f"{head}\n\n{render_sample(sample)}\n\n{named}   # the story of one"

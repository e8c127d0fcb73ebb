"""What was reproduced here before is spared by the hook, and by nobody else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from evalgate.commands.console import Console
from evalgate.commands.gating.evidence import gathering, request_of
from evalgate.commands.gating.reproduced import reproduced_here
from evalgate.commands.project import open_project, open_state, subject_of
from evalgate.commands.recordings import find_recordings
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind
from tests.e2e.conftest import Repo, copied

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def edited(regressing, tmp_path) -> Repo:
    """A recorded edit on top of a measured harness, in the clone that recorded it."""
    made = copied(regressing, tmp_path)
    made.git("switch", "-q", "wrong")
    return made


def spared(repo: Repo) -> bool:
    """Tell whether a push of HEAD would be judged without grading."""
    project = open_project(repo.path)
    with (
        open_state(project, subject_of("HEAD")) as head,
        open_state(project, subject_of("HEAD~1")) as old,
    ):
        it = gathering(head, old, Console(quiet=True))
        jobs = find_recordings(head, head.fingerprint.digest).jobs(it.tasks)
        request = request_of(it, Kind.REGRADE, jobs)
        return reproduced_here(RunStore(project.state), request) is not None


def edit_plans(repo: Repo, edit: Edit) -> None:
    for path in repo.path.glob(".evalgate/runs/*/run.json"):
        value = json.loads(path.read_text())
        edit(value["plan"])
        path.write_text(json.dumps(value))


def edit_trials(repo: Repo, edit: Edit) -> None:
    for path in repo.path.glob(".evalgate/runs/*/trials.jsonl"):
        trials = [json.loads(line) for line in path.read_text().splitlines()]
        for trial in trials:
            edit(trial)
        path.write_text("".join(json.dumps(trial) + "\n" for trial in trials))


def test_who_recorded_here_pushes_without_grading(edited):
    """The run that made the recordings graded their very claims."""
    assert spared(edited)


@pytest.mark.parametrize(
    "edit",
    [
        {"evalgate": "0.0.1"},
        {"tripwires": "others"},
        {"prices": "others"},
        {"fingerprint": "0" * 64},
        {"kind": "top-up"},
        {"series": "confirm-1"},
    ],
)
def test_a_run_of_another_kind_spares_nothing(edited, edit):
    """Whatever a grade depends on is the same, or all is graded."""
    edit_plans(edited, lambda plan: plan.update(edit))
    assert not spared(edited)


@pytest.mark.parametrize(
    "edit",
    [
        {"outcome": "errored"},
        {"outcome": "passed"},
        {"cassette": "0" * 64},
        {"task_digest": "0" * 64},
        {"n": 7},
        {"checks": []},
    ],
)
def test_a_trial_that_is_not_what_was_recorded_spares_nothing(edited, edit):
    """What errored, or came out otherwise, is no reproduction; nor is that of another recording."""
    edit_trials(edited, lambda trial: trial.update(edit))
    assert not spared(edited)


def test_a_second_push_grades_nothing_and_a_gate_always_does(edited, evalgate):
    """In a clone of its own the first push grades; what is asked for by name is never spared."""
    shutil.rmtree(edited.path / ".evalgate")
    line = f"x {edited.git('rev-parse', 'HEAD')} x {edited.git('rev-parse', 'HEAD~1')}\n"
    said, waited = [], []
    for number, words in [(1, "hook run origin"), (1, "hook run origin"), (2, "gate")]:
        done = evalgate(*words.split(), cwd=edited.path, stdin=line)
        assert done.returncode == 1, done.stderr
        said.append(json.loads((edited.path / ".evalgate/verdict.json").read_text()))
        assert len([*edited.path.glob(".evalgate/runs/*")]) == number
        waited.append("6 recorded trials are graded here, once" in done.stderr)
    for verdict in said:
        verdict.pop("run", None)
    assert said[0] == said[1]
    assert waited == [True, False, False]

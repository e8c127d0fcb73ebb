"""Baselines that a change adds are believed as far as something speaks for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evalgate.core.baseline import Baseline
from evalgate.core.sample import Row, TaskSample
from evalgate.core.trial import Outcome
from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette
from evalgate.store.baselines import dump_baseline, load_baseline
from tests.baselines import accept, enter
from tests.e2e.conftest import Repo, words
from tests.schemas import hold_answer


def verdict(repo: Repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def forged(
    repo: Repo, act: Callable[[TaskSample], TaskSample], whole: Callable[[Baseline], Baseline]
) -> Path:
    """Write a changed copy of the one baseline that a repository has; return its file."""
    (path,) = (repo.path / "baselines").glob("*.toml")
    true = load_baseline(path.read_bytes(), name=path.name)
    tasks = {name: act(task) for name, task in true.sample.tasks.items()}
    false = whole(replace(true, sample=replace(true.sample, tasks=tasks)))
    file = path.parent / false.filename
    file.write_bytes(dump_baseline(false))
    return file


def same(one):
    return one


def failing(trials: int) -> Callable[[TaskSample], TaskSample]:
    """Make a task one that failed so often, with no recording."""
    rows = tuple(Row(n=n, outcome=Outcome.FAILED) for n in range(1, trials + 1))
    return lambda task: replace(task, rows=rows, passing_patch="")


def each(**changed: object) -> Callable[[TaskSample], TaskSample]:
    """Change every trial of a task."""
    return lambda task: replace(task, rows=tuple(replace(row, **changed) for row in task.rows))


def test_numbers_without_a_ledger_entry_are_void(here, evalgate):
    """Whoever accepts a baseline has one."""
    file = forged(here, failing(20), same)
    words(here, "harmless")
    assert evalgate("gate", cwd=here.path).returncode == 6
    assert f"baselines/{file.name}: no ledger entry has its numbers" in verdict(here)["reasons"]


def test_numbers_that_the_bases_own_deny_are_void(here, evalgate):
    """More trials of the harness as it stands, all of them failed, for the next change to beat."""
    enter(forged(here, failing(20), same))
    words(here, "harmless")
    assert evalgate("gate", cwd=here.path).returncode == 6
    assert (
        "0/40 passed, and 6/6 in the committed numbers of this very harness"
        in (verdict(here)["sentence"])
    )


def test_numbers_that_came_out_better_than_the_bases_are_void(here, evalgate):
    """Either way: a baseline that nobody can reach blocks everybody else."""
    enter(forged(here, failing(20), same))
    before = words(here, "a baseline that is bad")
    accept(here.path, trials=19)
    words(here, "and one that is good")
    assert evalgate("gate", "--base", before, cwd=here.path).returncode == 6
    assert "38/38 passed" in verdict(here)["sentence"]


def test_numbers_that_agree_are_named_on_top(here, evalgate):
    """Pooling further trials is what files of one harness are for."""
    file = accept(here.path, trials=4)
    words(here, "harmless")
    done = evalgate("gate", cwd=here.path)
    assert done.returncode == 0, done.stdout
    top = done.stdout.partition("###")[0]
    assert f"adds a baseline of {file.name[:12]}: 0 of its 8 trials recorded" in top


def dearer(task: TaskSample) -> TaskSample:
    rows = (replace(row, signals=replace(row.signals, output_tokens=4000)) for row in task.rows)
    return replace(task, rows=tuple(rows))


def of_another_model(one: Baseline) -> Baseline:
    conditions = replace(one.sample.conditions, models=("scripted-2",))
    return replace(one, sample=replace(one.sample, conditions=conditions))


def later(one: Baseline) -> Baseline:
    day = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    return replace(one, provenance=replace(one.provenance, date=day))


def doubled(task: TaskSample) -> TaskSample:
    return replace(task, rows=task.rows + tuple(replace(row, n=row.n + 3) for row in task.rows))


CONTRADICTED = {
    "signals": (dearer, same, "double #1 is not what was recorded: signals"),
    "checks": (each(checks={}), same, "double #1 is not what was recorded: checks"),
    "a reason": (each(reason="weather"), same, "double #1 is not what was recorded: reason"),
    "the task": (
        lambda task: replace(task, digest="0" * 64),
        same,
        "double is another version of the task",
    ),
    "the model": (same, of_another_model, "models: ['scripted-2'], in its recordings"),
    "the day": (same, later, "is to come"),
    "how many": (doubled, same, "2 trials name the recording"),
}


@pytest.mark.parametrize("what", CONTRADICTED)
def test_what_recordings_deny_is_void(recorded, evalgate, what):
    """Not the outcome alone: all that was recorded of a trial, what of, and when."""
    act, whole, said = CONTRADICTED[what]
    before = recorded.git("rev-parse", "HEAD~1")
    recorded.git("branch", "-q", "recorded")
    recorded.git("reset", "-q", "--hard", before)
    recorded.git("checkout", "-q", "recorded", "--", "cassettes")
    base = recorded.commit("The recordings alone")
    recorded.git("checkout", "-q", "recorded", "--", "baselines")
    (true,) = (recorded.path / "baselines").glob("*.toml")
    false = forged(recorded, act, whole)
    if false != true:
        true.unlink()
        enter(false)
    recorded.commit("A baseline")
    done = evalgate("gate", "--base", base, cwd=recorded.path)
    assert done.returncode == 6, done.stdout + done.stderr
    assert any(said in one for one in verdict(recorded)["reasons"]), verdict(recorded)["reasons"]
    done = evalgate("baseline", "verify", cwd=recorded.path)
    assert done.returncode == 6
    assert said in done.stdout
    done = evalgate("baseline", "verify", "--json", cwd=recorded.path)
    hold_answer(("baseline", "verify"), done.stdout)
    assert any(said in one["said"] for one in json.loads(done.stdout)["problems"])


@pytest.fixture
def copied(recorded, scripted, evalgate):
    """An edit whose first recordings stand for the others too."""
    recorded.write("agent/prompts/rewrite.md", "Fix it.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    new = recorded.git("ls-files", "-o", "--exclude-standard", "cassettes").splitlines()
    for name in sorted(new):
        path = recorded.path / name
        if path.name == "1.json":
            tape = load_cassette(path.read_bytes(), name=name)
            for n in (2, 3):
                other = replace(tape, header=replace(tape.header, n=n))
                path.with_name(f"{n}.json").write_bytes(dump_cassette(other))
    recorded.commit("One recording, three times")
    return recorded


def test_one_recording_is_one_trial(copied, evalgate):
    """However many files hold it: the gate is void, and nothing can be made of them."""
    assert evalgate("gate", cwd=copied.path).returncode == 6
    assert "double #2 is a copy of #1" in verdict(copied)["sentence"]
    done = evalgate("cassette", "verify", cwd=copied.path)
    assert done.returncode == 6
    assert "3.json: is a copy of double #1" in done.stdout
    assert evalgate("regrade", cwd=copied.path).returncode in {0, 1}
    done = evalgate("baseline", "accept", "latest", cwd=copied.path)
    assert done.returncode == 2, done.stdout
    assert "one recording stands for several trials: double #2" in done.stderr


def test_what_is_said_twice_is_recorded_twice(recorded, evalgate):
    """A model that always says the same makes no copies."""
    assert evalgate("cassette", "verify", cwd=recorded.path).returncode == 0

"""Run folders: what is finished is never lost, and the same plan goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evalgate.core.run_plan import RunPlan
from evalgate.core.trial import Trial
from evalgate.errors import UsageError
from evalgate.store.runs import RunFolder, RunStore
from tests.plans import plan

PLAN = plan()
OTHER = plan(suite="other")
Make = Callable[..., Trial]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """A project's state directory that does not exist yet."""
    return RunStore(tmp_path / "state")


def begin(store: RunStore, *trials: Trial, plan: RunPlan = PLAN) -> RunFolder:
    """Open a run, append trials, and let go of it unfinished."""
    with store.open(plan, fresh=False) as run:
        for trial in trials:
            run.append(trial)
    return run


def put(store: RunStore, name: str, text: str = '{"format": 1}') -> RunFolder:
    """Write a run folder by hand."""
    path = store.state / "runs" / name
    path.mkdir(parents=True)
    (path / "run.json").write_text(text)
    return RunFolder(path)


def test_each_trial_is_one_line(store: RunStore, trial: Make) -> None:
    """Whatever a trial holds, its line has no other line in it."""
    run = begin(store, trial(1, reason="two\nlines"), trial(2, patch="\x85\u2028"))
    lines = (run.path / "trials.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 3
    assert lines[-1] == b""
    assert run.trials == (trial(1, reason="two\nlines"), trial(2, patch="\x85\u2028"))


def test_the_state_directory_ignores_itself(store: RunStore) -> None:
    """No run is committed by accident; a .gitignore that is there is left alone."""
    begin(store)
    ignore = store.state / ".gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("mine\n")
    begin(store)
    assert ignore.read_text() == "mine\n"


def test_a_cut_line_is_left_out_and_dropped_on_resume(store: RunStore, trial: Make) -> None:
    """A crash in the middle of a line loses that line and no other."""
    run = begin(store, trial(1))
    path = run.path / "trials.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-40])
    assert run.trials == (trial(1),)
    again = begin(store, trial(2))
    assert again.id == run.id
    assert again.trials == (trial(1), trial(2))


def test_a_run_without_trials_has_none(store: RunStore) -> None:
    """Nothing was appended yet, or only half a first line."""
    run = begin(store)
    assert run.trials == ()
    (run.path / "trials.jsonl").write_text("{")
    assert begin(store).trials == ()
    assert (run.path / "trials.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "line",
    ["{}", "[]", "3", "no JSON", '{"conditions": []}', "\\", "null"],
)
def test_an_edited_line_is_named_with_its_number(store: RunStore, trial: Make, line: str) -> None:
    """What is no trial is said, not skipped."""
    run = begin(store, trial(1))
    with (run.path / "trials.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UsageError, match=r"trials\.jsonl:2: this is no trial"):
        _ = run.trials


@pytest.mark.parametrize(
    ("key", "value"),
    [("n", 1e999), ("conditions", []), ("signals", {"turns": float("nan")}), ("checks", [[]])],
)
def test_a_wrong_value_in_a_line_is_named(
    store: RunStore, trial: Make, key: str, value: object
) -> None:
    """A value of another kind is an edited file as well."""
    run = begin(store)
    text = json.dumps({**trial(1).to_json(), key: value})
    (run.path / "trials.jsonl").write_text(f"{text}\n")
    with pytest.raises(UsageError, match=r"trials\.jsonl:1: this is no trial"):
        _ = run.trials


def test_the_unfinished_run_of_the_same_plan_goes_on(store: RunStore, trial: Make) -> None:
    """The order of a plan's tasks does not make another plan."""
    first = begin(store, trial(1))
    turned = replace(PLAN, tasks=dict(reversed(PLAN.tasks.items())))
    assert begin(store, plan=turned).id == first.id
    assert first.plan == PLAN


def test_the_trials_of_a_harness_come_by_task_and_number(store: RunStore, trial: Make) -> None:
    """Whichever ended first: what is named on a page is the same on every machine."""
    ended = [trial(2), trial(1)]
    other = trial(1, task="a task")
    run = begin(store, *ended, other)
    run.write_info({**run.info, "finished": True})
    found = [one for _, one in store.trials_of(other.key.fingerprint)]
    assert found == [other, ended[1], ended[0]]


def test_another_plan_is_another_run(store: RunStore) -> None:
    """Other limits, another harness or other tasks are never mixed in."""
    first = begin(store)
    assert begin(store, plan=OTHER).id != first.id
    assert begin(store).id == first.id


def test_a_finished_run_is_not_gone_on_with(store: RunStore) -> None:
    """Once it is finished, the same command measures anew."""
    with store.open(PLAN, fresh=False) as run:
        run.write_info({**run.info, "finished": True})
    assert begin(store).id != run.id


def test_fresh_is_a_new_run(store: RunStore) -> None:
    """Asked for, an unfinished run is left as it is."""
    first = begin(store)
    with store.open(PLAN, fresh=True) as run:
        assert run.id != first.id


def test_an_abandoned_run_is_not_gone_on_with(store: RunStore, trial: Make) -> None:
    """Those of other plans are left, and so is one that another process holds."""
    first, other = begin(store, trial(1)), begin(store, plan=OTHER)
    assert [run.id for run in store.abandon(PLAN)] == [first.id]
    assert first.trials == (trial(1),)
    with store.open(PLAN, fresh=False) as held:
        assert held.id != first.id
        assert store.abandon(PLAN) == ()
    assert begin(store, plan=OTHER).id == other.id


def test_a_run_another_holds_is_left_alone(store: RunStore, trial: Make) -> None:
    """Two processes with one plan do not write to one file."""
    with store.open(PLAN, fresh=False) as first, store.open(PLAN, fresh=False) as second:
        assert first.id != second.id
        second.append(trial(1))
        assert first.trials == ()
    assert len(store.all()) == 2


def test_a_run_is_found_by_name(store: RunStore) -> None:
    """By its id, an unambiguous start of it, or as the latest."""
    put(store, "20260101-000000-run-aa")
    put(store, "20260102-000000-run-aa")
    put(store, "20260102-000000-run-aa-1")
    assert store.find("latest").id == "20260102-000000-run-aa-1"
    assert store.find("20260101").id == "20260101-000000-run-aa"
    assert store.find("20260102-000000-run-aa").id == "20260102-000000-run-aa"
    with pytest.raises(UsageError, match="'2026' names 3 runs"):
        store.find("2026")
    with pytest.raises(UsageError, match="no run named 'nosuch'"):
        store.find("nosuch")


def test_there_may_be_no_run(store: RunStore) -> None:
    """The error says how to make one; a folder without run.json is none."""
    (store.state / "runs" / "stray").mkdir(parents=True)
    with pytest.raises(UsageError, match="there is no run yet") as caught:
        store.find("latest")
    assert "evalgate run" in caught.value.hint


def test_a_newer_run_is_refused_by_name(store: RunStore) -> None:
    """An old evalgate does not read what a new one wrote."""
    run = put(store, "20260101-000000-run-aa", '{"format": 2}')
    with pytest.raises(UsageError, match=f"{run.path}: format 2 is newer") as caught:
        _ = run.info
    assert caught.value.hint == "upgrade git-evalgate"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "x"}', '{"format": null}'])
def test_a_broken_run_is_named(store: RunStore, text: str) -> None:
    """Whatever stands in run.json, the file is named."""
    run = put(store, "20260101-000000-run-aa", text)
    with pytest.raises(UsageError, match=r"run\.json: "):
        _ = run.info


@pytest.mark.parametrize("value", ["{}", "[]", '{"plan": 3}', '{"plan": {"kind": "run"}}'])
def test_a_run_without_a_plan_is_none_that_is_finished(store: RunStore, value: str) -> None:
    """Whatever stands in its place, the file is named where it is asked for."""
    text = json.dumps({"format": 1, "finished": True, **(json.loads(value) or {})})
    run = put(store, "20260101-000000-run-aa", text)
    assert store.finished() == ()
    with pytest.raises(UsageError, match=r"run\.json: this is no plan of a run"):
        _ = run.plan


@pytest.mark.parametrize("text", ["{", '{"format": 2}'])
def test_an_old_run_that_can_not_be_read_stops_no_new_one(store: RunStore, text: str) -> None:
    """Work goes on beside a folder that is broken or from a newer evalgate."""
    put(store, "20260101-000000-run-aa", text)
    assert begin(store).id != "20260101-000000-run-aa"


def test_artifacts_lie_below_their_run(store: RunStore) -> None:
    """Folders are made as they are needed."""
    run = begin(store)
    run.write_artifact("greet-1/1/log.txt", b"x")
    assert (run.path / "artifacts/greet-1/1/log.txt").read_bytes() == b"x"

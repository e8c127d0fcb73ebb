"""What may be held against what: served models, copies of a recording, a refusal."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

ACCEPT = ("baseline", "accept", "-k", "1")


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def edit(repo, prompt: str) -> None:
    repo.write("agent/prompts/rewrite.md", prompt)
    repo.commit(f"Edit the prompt: {prompt}")


def served_in_trials(repo) -> set[tuple[str, ...]]:
    """Return the models of every trial of the newest run."""
    newest = max((repo.path / ".evalgate/runs").iterdir())
    lines = (newest / "trials.jsonl").read_text().splitlines()
    return {tuple(json.loads(line)["conditions"]["models"]) for line in lines}


@pytest.fixture
def call(recorded, scripted, evalgate):
    """Run a command with the scripted model at hand."""
    return lambda *words: evalgate(*words, cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})


def test_what_the_provider_says_it_served_is_kept(recorded, scripted, call):
    """With each trial, and in the baseline; not what was asked for."""
    scripted.served = "scripted-1-20261130"
    edit(recorded, "Fix it, please.\n")
    assert call("run").returncode == 0
    assert served_in_trials(recorded) == {("scripted-1-20261130",)}
    text = Path(call(*ACCEPT).stdout.strip()).read_text()
    assert tomllib.loads(text)["conditions"]["models"] == ["scripted-1-20261130"]


@pytest.mark.parametrize("live", [True, False])
def test_an_alias_that_moved_is_named(recorded, scripted, call, live):
    """Incomparable (3), and the way out is a new baseline of the base."""
    base = recorded.git("rev-parse", "HEAD")
    edit(recorded, "Be WRONG.\n")
    scripted.served = "scripted-2"
    if not live:
        assert call("run", "--record").returncode == 0
        recorded.commit("Recordings")
    done = call("gate", *(["--live"] if live else ["--base", base]))
    assert done.returncode == 3, done.stdout + done.stderr
    found = verdict(recorded)
    assert found["reasons"] == ["models served: scripted-1 against scripted-2"]
    said = done.stdout.replace("\\", "")
    assert "serves scripted-2 for scripted-1, and served scripted-1 when" in said
    assert f"evalgate baseline renew --rev {base[:12]}" in said
    renewed = call("baseline", "renew", "--rev", base[:12]).stdout
    assert "made here (" in renewed
    assert "): models served: scripted-1 against scripted-2\n" in renewed


def test_a_change_of_model_stands_by_itself(recorded, scripted, call):
    """It is not the base that has to be measured anew."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config.replace('"scripted-1"', '"small"'))
    recorded.commit("Another model")
    scripted.served = "small"
    done = call("gate", "--live")
    assert done.returncode == 3, done.stdout
    assert "this change asks for another model" in done.stdout
    assert "baseline renew" not in done.stdout


@pytest.mark.parametrize("served", ["/models/llama-3-8b.gguf", None])
def test_a_local_model_judges_no_hosted_one(recorded, scripted, call, served):
    """Behind the same address, by another name or by none at all."""
    edit(recorded, "Fix it, please.\n")
    scripted.served = served
    done = call("gate", "--live")
    assert done.returncode == 3, done.stdout
    name = served or "unnamed"
    assert verdict(recorded)["reasons"] == [f"models served: scripted-1 against {name}"]


def test_a_recording_is_one_trial_however_often_it_is_played(recorded, call):
    """Three replays and a regrade of it, accepted all of them, are the same six trials."""
    for verb in ("replay", "replay", "regrade", "replay"):
        assert call(verb).returncode == 0
        assert call(*ACCEPT).returncode == 0
    assert len(list((recorded.path / "baselines").glob("*.toml"))) > 1
    assert json.loads(call("--json", "plan").stdout)["stored_trials"] == 6


def test_a_live_trial_is_one_in_however_many_baselines_it_stands(recorded, call):
    """A baseline of two runs holds again what that of the first one held."""
    edit(recorded, "Fix it, please.\n")
    for _ in range(2):
        assert call("run").returncode == 0
        assert call(*ACCEPT).returncode == 0
    assert json.loads(call("--json", "plan").stdout)["stored_trials"] == 12


def test_a_recorded_429_is_no_failure(recorded, scripted, call):
    """Not measured when it was recorded, when it is graded again, and when it is judged."""
    edit(recorded, "Fix it, please.\n")
    right = scripted.answer
    scripted.answer = lambda r: (
        (429, "slow down") if "triple" in r["messages"][-1]["content"] else right(r)
    )
    config = (recorded.path / "evalgate.toml").read_text() + "\n[policy]\nmax_errored = 0.5\n"
    recorded.git("checkout", "-q", "HEAD~1")
    recorded.write("evalgate.toml", config)
    recorded.commit("Half of it may fail to be measured")
    base = recorded.git("rev-parse", "HEAD")
    edit(recorded, "Fix it, please.\n")
    assert call("run", "--record").returncode == 0
    recorded.commit("Recordings")
    for verb in ("replay", "regrade"):
        assert call(verb).returncode == 0
        report = max((recorded.path / ".evalgate/runs").iterdir())
        lines = [json.loads(one) for one in (report / "trials.jsonl").read_text().splitlines()]
        outcomes = {(one["task"], one["outcome"]) for one in lines}
        assert outcomes == {("double", "passed"), ("triple", "errored")}
        assert "HTTP 429" in next(one["reason"] for one in lines if one["task"] == "triple")
    done = call("gate", "--base", base)
    found = verdict(recorded)
    changes = {one["task"]: one["change"] for one in found["tasks"]}
    assert changes["triple"] == "not measured", done.stdout
    assert found["decision"] == "not measured", "every trial of one task errored"

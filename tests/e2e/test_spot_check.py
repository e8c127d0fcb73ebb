"""`evalgate gate --spot-check`: recorded numbers against a few trials made anew."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.e2e.conftest import right_unless_told


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


@pytest.fixture
def edited(recorded, scripted, evalgate):
    """An edit with its recordings, under a policy that asks for spot checks."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + '\n[policy]\nevidence = "spot-checked"\n')
    recorded.commit("policy")
    recorded.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Edit the prompt")
    return recorded


def test_weaker_evidence_than_asked_for_decides_nothing(edited, evalgate):
    """Exit 7, with the commands that make it stronger."""
    done = evalgate("gate", cwd=edited.path)
    assert done.returncode == 7
    assert "The numbers are regraded, and the policy asks for spot-checked ones." in done.stdout
    assert "evalgate gate --spot-check" in done.stdout


def test_a_spot_check_makes_a_few_trials_anew(edited, scripted, evalgate):
    """Six of them; asked again, they are not made again."""
    scripted.requests.clear()
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 6
    assert verdict(edited)["evidence"] == "spot-checked"
    assert "Evidence: **spot-checked**" in done.stdout
    again = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert again.returncode == 0
    assert len(scripted.requests) == 6


def test_recordings_that_flatter_void_the_verdict(edited, scripted, evalgate):
    """The model of today fails what was recorded as passed."""
    scripted.answer = lambda _: (200, "no idea")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert done.returncode == 6, done.stdout
    assert "spot check: 6 of 6 recorded trials passed, and 0 of 6 made anew" in done.stdout


def test_a_check_that_came_out_badly_is_not_repeated_away(edited, scripted, evalgate):
    """What another commit of the same harness drew counts as well."""
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("gate", "--spot-check", cwd=edited.path, env=env).returncode == 0
    runs = edited.path / ".evalgate/runs"
    (check,) = (path for path in runs.iterdir() if "-confirm-" in path.name)
    other = shutil.copytree(check, runs / f"{check.name}-0")
    info = json.loads((other / "run.json").read_text())
    info["plan"]["trials"] = info["plan"]["trials"][:-1]  # another draw
    (other / "run.json").write_text(json.dumps(info))
    made = (other / "trials.jsonl").read_text()
    (other / "trials.jsonl").write_text(made.replace('"outcome": "passed"', '"outcome": "failed"'))
    done = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert done.returncode == 6, done.stdout
    assert "6 of 6 recorded trials passed, and 6 of 12 made anew" in done.stdout


def test_a_check_that_can_not_be_made_is_no_check(edited, scripted, evalgate):
    """The provider fails: the evidence stays what it was."""
    scripted.answer = lambda _: (401, "no")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert done.returncode == 7, done.stdout
    assert "6 of 6 trials of the spot check errored" in done.stdout
    scripted.answer = right_unless_told
    done = evalgate("gate", "--spot-check", cwd=edited.path, env=env)
    assert done.returncode == 0, done.stdout
    assert verdict(edited)["evidence"] == "spot-checked"


def test_a_check_that_the_budget_ends_is_no_pass(recorded, scripted, evalgate):
    """Exit 8 with a verdict that says so, though the recorded numbers would do for the policy."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + "\n[budget]\nturns = 2\n")
    recorded.commit("a budget")
    recorded.write("evalgate.toml", config)
    recorded.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Edit the prompt")
    asked = len(scripted.requests)
    done = evalgate("gate", "--spot-check", "-j", "1", cwd=recorded.path, env=env)
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) == asked + 2
    assert verdict(recorded)["decision"] == "budget reached"
    assert "ended before the spot check was made" in verdict(recorded)["sentence"]

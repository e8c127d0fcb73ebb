"""`evalgate waive`: a known regression, accepted on the base's side, for a while."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from evalgate.core.waiver import Waiver
from evalgate.store.waivers import dump_waiver

TOMORROW = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


@pytest.fixture
def worse(recorded, scripted, evalgate):
    """A branch whose prompt hurts, recorded."""
    recorded.git("checkout", "-q", "-b", "edit")
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Edit the prompt")
    assert evalgate("gate", "--base", "main", cwd=recorded.path).returncode == 1
    return recorded


def waive(evalgate, repo, *options: str, drop: str = "100", until: str = TOMORROW):
    return evalgate(
        *("waive", "--base", "main", "--max-drop", drop, "--until", until),
        *("--reason", "shorter on purpose", *options),
        cwd=repo.path,
    )


def approve(repo, path: str) -> None:
    """Put a waiver on the base's side, as a reviewer does, and the branch on top of it."""
    repo.git("add", path)
    repo.git("stash", "-q")
    repo.git("checkout", "-q", "main")
    repo.git("stash", "pop", "-q")
    repo.commit("Waive")
    repo.git("checkout", "-q", "edit")
    repo.git("rebase", "-q", "main")


def all_waivers(evalgate, repo, **how) -> None:
    """Waive the suite and both tasks."""
    for options in ((), ("--task", "double"), ("--task", "triple")):
        done = waive(evalgate, repo, *options, **how)
        assert done.returncode == 0, done.stderr


def test_what_the_base_accepts_is_waived(worse, evalgate):
    """Exit 0, its own decision, and the waiver is shown."""
    all_waivers(evalgate, worse)
    approve(worse, "baselines/waivers")
    done = evalgate("gate", "--base", "main", cwd=worse.path)
    assert done.returncode == 0, done.stdout
    found = verdict(worse)
    assert found["decision"] == "waived"
    assert "shorter on purpose (runs out in 1 day)" in " ".join(found["reasons"])
    assert "A known regression, accepted" in done.stdout


def test_what_was_accepted_is_shown_of_what_follows(worse, scripted, evalgate):
    """Until its last day, when the accepted harness is the base of another edit."""
    all_waivers(evalgate, worse)
    assert evalgate("baseline", "accept", cwd=worse.path).returncode == 0
    worse.commit("accepted")
    worse.write("agent/prompts/rewrite.md", "Be WRONG again.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=worse.path, env=env).returncode == 0
    worse.commit("Another edit")
    page = evalgate("gate", cwd=worse.path).stdout
    told = page.partition("How this was decided")[2]
    assert "accepted of the base: triple may fall by up to 100 points" in told
    assert "shorter on purpose (runs out in 1 day)" in told


def test_nobody_waives_a_change_in_itself(worse, evalgate):
    """The file in the change is named and does not count."""
    all_waivers(evalgate, worse)
    worse.commit("waive it myself")
    done = evalgate("gate", "--base", "main", cwd=worse.path)
    assert done.returncode == 1
    assert "this change adds a waiver, which does not count until the base has it" in done.stdout


def test_a_waiver_alone_is_named_on_top(worse, evalgate):
    """Also where there is nothing else to judge."""
    all_waivers(evalgate, worse)
    worse.commit("waive")
    done = evalgate("gate", cwd=worse.path)
    assert done.returncode == 0, done.stdout
    assert verdict(worse)["decision"] == "nothing to judge"
    assert "this change adds a waiver" in done.stdout.partition("###")[0]
    assert any("triple may fall by up to 100 points" in one for one in verdict(worse)["notes"])


def test_a_larger_drop_than_waived_is_a_regression(worse, evalgate):
    """The size is part of what was accepted."""
    all_waivers(evalgate, worse, drop="20")
    approve(worse, "baselines/waivers")
    assert evalgate("gate", "--base", "main", cwd=worse.path).returncode == 1


def test_a_waiver_runs_out(worse, evalgate):
    """The gate blocks again, and says why."""
    path = worse.path / "baselines/waivers"
    all_waivers(evalgate, worse)
    for file in sorted(path.glob("*.toml")):
        waiver = Waiver.from_json(tomllib.loads(file.read_text()) | {"until": YESTERDAY})
        file.unlink()
        (path / waiver.filename).write_bytes(dump_waiver(waiver))
    approve(worse, "baselines/waivers")
    done = evalgate("gate", "--base", "main", cwd=worse.path)
    assert done.returncode == 1, done.stderr
    assert "a waiver has run out" in done.stdout


def test_a_waiver_is_not_edited_by_hand(worse, evalgate):
    """Its name tells its content."""
    path = worse.path / "baselines/waivers"
    all_waivers(evalgate, worse)
    for file in sorted(path.glob("*.toml")):
        value = tomllib.loads(file.read_text())
        file.write_text(file.read_text().replace(value["until"], YESTERDAY))
    approve(worse, "baselines/waivers")
    done = evalgate("gate", "--base", "main", cwd=worse.path)
    assert done.returncode == 2
    assert "it was edited by hand" in done.stderr


def test_a_waiver_that_is_removed_voids_nothing(worse, evalgate):
    """It counts until the base has it no more."""
    all_waivers(evalgate, worse)
    approve(worse, "baselines/waivers")
    worse.git("rm", "-q", "-r", "baselines/waivers")
    worse.commit("no longer")
    assert evalgate("gate", "--base", "main", cwd=worse.path).returncode == 0


def test_another_edit_is_not_waived(worse, scripted, evalgate):
    """A waiver is bound to the pair of harnesses."""
    all_waivers(evalgate, worse)
    approve(worse, "baselines/waivers")
    worse.write("agent/prompts/rewrite.md", "Be WRONG twice.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=worse.path, env=env).returncode == 0
    worse.commit("another edit")
    assert evalgate("gate", "--base", "main", cwd=worse.path).returncode == 1


@pytest.mark.parametrize(
    ("options", "how", "words"),
    [
        ((), {"until": YESTERDAY}, "has passed"),
        (("--task", "nosuch"), {}, "--task nosuch: the base has no such task"),
        (("--head", "main"), {}, "nothing to waive"),
        ((), {"drop": "0"}, "--max-drop"),
    ],
    ids=["yesterday", "no such task", "one harness", "no drop"],
)
def test_what_can_not_be_waived_is_said(worse, evalgate, options, how, words):
    """Exit 2 with a hint, and no file."""
    done = waive(evalgate, worse, *options, **how)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert not (worse.path / "baselines/waivers").exists()

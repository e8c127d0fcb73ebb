"""What a change is about, and the ledger of everything that was tried."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.e2e.conftest import Repo, prompt


def verdict(repo: Repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def experiments(repo: Repo, evalgate) -> list[dict]:
    return json.loads(evalgate("--json", "ledger", cwd=repo.path).stdout)["experiments"]


def test_the_parts_that_changed_are_named_with_their_sizes(here, evalgate):
    """Lines, tokens by a count that is said, and tools before and after."""
    tools = json.loads((here.path / "agent/tools.json").read_text())
    before = len(tools)
    here.write("agent/tools.json", json.dumps([*tools, tools[0]]))
    here.write("agent/prompts/rewrite.md", "x" * 4000 + "\n")
    here.commit("Two tools are better than one\n\nAnd a body.")
    done = evalgate("gate", cwd=here.path)
    assert "2 parts changed at once" in done.stdout
    assert "Meant to: Two tools are better than one\n" in done.stdout
    assert f"{before} → {before + 1} tools" in done.stdout
    assert "tokens (four bytes each)" in done.stdout
    parts = {part["name"]: part for part in verdict(here)["parts"]}
    assert parts["tools"]["tools"] == [before, before + 1]
    assert parts["prompt"]["files"][0].startswith("agent/prompts/rewrite.md +1 -")
    assert parts["prompt"]["tokens"][1] >= 1000
    assert parts["prompt"]["counted_as"] == "4 bytes a token"
    assert verdict(here)["hypothesis"] == "Two tools are better than one"


def test_a_hypothesis_may_be_said(here, evalgate):
    """For what is not committed there is no other."""
    here.write("agent/prompts/rewrite.md", "dirty\n")
    assert evalgate("gate", cwd=here.path).returncode == 7
    assert verdict(here)["hypothesis"] == ""
    evalgate("gate", "--hypothesis", "less is more", cwd=here.path)
    assert verdict(here)["hypothesis"] == "less is more"


def test_a_merge_says_what_its_branch_meant(here, evalgate):
    """Not that it is a merge."""
    here.git("switch", "-qc", "topic")
    here.write("agent/prompts/rewrite.md", "p\n")
    here.commit("Say please")
    here.git("switch", "-q", "main")
    here.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    evalgate("gate", cwd=here.path)
    assert verdict(here)["hypothesis"] == "Say please"


def test_an_experiment_that_failed_and_was_reverted_is_kept(recorded, scripted, evalgate):
    """Hypothesis, parts, numbers and decision; one file, however often it is added."""
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Being | wrong saves tokens")
    assert evalgate("gate", cwd=recorded.path).returncode == 1
    recorded.git("revert", "--no-edit", "HEAD")
    for _ in range(2):
        done = evalgate("ledger", "--add", cwd=recorded.path)
        assert done.returncode == 0, done.stderr
    assert "the same experiment" in done.stderr
    recorded.commit("What was tried")
    found = [one for one in experiments(recorded, evalgate) if one["decision"] == "regression"]
    assert [(one["passed"], one["measured"], one["changed"]) for one in found] == [
        (0, 6, ["prompt"])
    ]
    assert found[0]["hypothesis"] == "Being | wrong saves tokens"
    page = evalgate("ledger", "--markdown", cwd=recorded.path).stdout
    assert "| prompt | Being \\| wrong saves tokens |" in page
    assert evalgate("baseline", "verify", cwd=recorded.path).returncode == 0
    (file,) = [
        path
        for path in (recorded.path / "baselines/ledger").glob("*.toml")
        if tomllib.loads(path.read_text())["decision"] == "regression"
    ]
    file.unlink()
    recorded.commit("as if it had never been")
    assert evalgate("gate", cwd=recorded.path).returncode == 6


@pytest.mark.parametrize("said", ["", "said by hand"])
def test_an_accepted_baseline_has_its_hypothesis(recorded, scripted, evalgate, said):
    """The first line of the commit that made the harness, unless something else is said."""
    recorded.write("agent/prompts/rewrite.md", "Fix it.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Short prompts are enough")
    option = ("--hypothesis", said) if said else ()
    done = evalgate("baseline", "accept", *option, cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    hopes = {one["hypothesis"]: one["changed"] for one in experiments(recorded, evalgate)}
    assert hopes[said or "Short prompts are enough"] == ["prompt"]


def test_what_was_not_measured_is_no_experiment(here, evalgate):
    """Neither without a verdict nor by one that rests on no trials; the hint says what is one."""
    done = evalgate("ledger", "--add", cwd=here.path)
    assert done.returncode == 2
    assert "there is no verdict yet" in done.stderr
    prompt(here, "one")
    assert evalgate("gate", cwd=here.path).returncode == 7
    done = evalgate("ledger", "--add", cwd=here.path)
    assert done.returncode == 2
    assert "rests on no trials" in done.stderr
    (here.path / ".evalgate/verdict.json").write_text("[]")
    assert "is no verdict" in evalgate("ledger", "--add", cwd=here.path).stderr
    assert evalgate("ledger", "--hypothesis", "x", cwd=here.path).returncode == 2

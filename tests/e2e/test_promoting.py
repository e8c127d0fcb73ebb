"""`evalgate gate --promote`, and how many trials a baseline takes."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def project(repo, scripted, evalgate):
    """A call of evalgate there, with a model at hand."""

    def call(*arguments: str):
        return evalgate(*arguments, cwd=repo.path, env={"SCRIPTED_URL": scripted.url})

    return call


def names(repo) -> set[str]:
    return {path.name for path in (repo.path / "baselines").glob("*.toml")}


def test_live_trials_are_accepted_by_the_twenty(repo, project):
    """Fewer are refused, with the command that makes the rest; a flag takes them all the same."""
    assert project("run", "-k", "2").returncode == 0
    refused = project("baseline", "accept")
    assert refused.returncode == 2
    assert "there are 2 trials a task, and a baseline takes 20" in refused.stderr
    assert "evalgate run -k 18 makes the rest" in refused.stderr
    assert names(repo) == set()
    assert project("baseline", "accept", "-k", "2").returncode == 0
    assert len(names(repo)) == 1


def test_what_was_accepted_before_counts(repo, project):
    """A night's trials are pooled with those of the nights before; none of them counts twice."""
    assert project("run", "-k", "1").returncode == 0
    assert project("baseline", "accept", "-k", "1").returncode == 0
    repo.commit("the first night")
    for run in (repo.path / ".evalgate/runs").iterdir():  # the next night is another machine's
        run.rename(repo.path.parent / run.name)
    assert project("run", "-k", "2").returncode == 0
    refused = project("baseline", "accept", "-k", "4")
    assert "there are 3 trials a task, and a baseline takes 4" in refused.stderr
    done = project("baseline", "accept", "-k", "3")
    assert done.returncode == 0, done.stderr
    (one, _) = sorted(names(repo))
    shown = project("baseline", "show", one[:16]).stdout
    assert "2 files" in shown
    assert "6/6 passed" in shown
    # Here all of them lie: the third file holds the trials of the second again.
    assert project("run", "--fresh", "-k", "1").returncode == 0
    assert project("baseline", "accept", "-k", "1").returncode == 0
    assert "8/8 passed" in project("baseline", "show", one[:16]).stdout
    repo.commit("nights")
    repo.write("agent/prompts/rewrite.md", "Please.\n")
    repo.commit("edit")
    gated = project("--json", "gate", "--live")
    assert gated.returncode == 0, gated.stderr
    tasks = json.loads(gated.stdout)["tasks"]
    assert {task["base"]["measured"] for task in tasks} == {4}


def test_a_pass_is_promoted(repo, project):
    """The head's trials become its baseline: a file to commit, which the next gate finds."""
    repo.write("evalgate.toml", (repo.path / "evalgate.toml").read_text() + MARGIN)
    repo.commit("a wide margin")
    assert project("run", "--record").returncode == 0
    assert project("baseline", "accept").returncode == 0
    head = repo.commit("a baseline")
    before = names(repo)
    repo.write("agent/prompts/rewrite.md", "Please.\n")
    repo.commit("edit")
    done = project("gate", "--live", "--promote")
    assert done.returncode == 0, done.stderr
    (new,) = names(repo) - before
    verdict = json.loads((repo.path / ".evalgate/verdict.json").read_text())
    assert (verdict["decision"], verdict["promoted"]) == ("pass", f"baselines/{new}")
    assert "git add baselines && git commit" in done.stdout
    assert repo.git("rev-parse", "HEAD~1") == head
    assert new in repo.git("status", "--porcelain", "-uall")
    repo.commit("promoted")
    assert new[:16] in project("baseline", "list").stdout
    ledger = json.loads(project("--json", "ledger").stdout)["experiments"]
    assert "gate: pass" in {one["reason"] for one in ledger}


def test_nothing_else_is_promoted(repo, project):
    """Neither what stays undecided, nor a regression, nor what did not change."""
    assert project("run", "--record").returncode == 0
    assert project("baseline", "accept").returncode == 0
    repo.commit("a baseline")
    before = names(repo)
    repo.write("README.md", "More.\n")
    repo.commit("no edit of the harness")
    for prompt, decision, code in (
        (None, "nothing to judge", 0),
        ("Please.\n", "undecided", 0),
        ("Be WRONG.\n", "regression", 1),
    ):
        if prompt:
            repo.git("checkout", "-q", "--detach", "main")
            repo.write("agent/prompts/rewrite.md", prompt)
            repo.commit("edit")
        done = project("gate", "--live", "--promote")
        assert done.returncode == code, done.stderr
        assert f"not promoted: the decision is {decision}, and no pass" in done.stdout
        assert names(repo) == before


#: Two tasks with three trials exclude no drop that is smaller.
MARGIN = "\n[policy]\nmargin = 0.9\n"

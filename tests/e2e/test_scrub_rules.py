"""A project's own scrub rules on real runs: one that never ends, and one that takes all."""

from __future__ import annotations

import json

import pytest

RULE = """
[[cassettes.scrub]]
name = "mine"
pattern = '{pattern}'
replace = "<X>"
reason = "for this test"
"""

#: In exponential time on a few dozen letters, unless something stops it.
ENDLESS = "(a|aa)+$"


def with_rule(repo, pattern):
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config + RULE.format(pattern=pattern))
    repo.commit("a rule")


def write_letters(repo):
    """Let both tasks say what makes the rule endless."""
    for task in ("double", "triple"):
        instruction = repo.path / f"tasks/{task}/instruction.md"
        instruction.write_text(instruction.read_text() + "a" * 60 + "!")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_rule_without_an_end_ends_the_run(repo, scripted, evalgate, workers):
    """Exit 2 with the rule, its file, line and key; nothing was asked of the model."""
    write_letters(repo)
    with_rule(repo, ENDLESS)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", "-j", workers, cwd=repo.path, env=env)
    assert done.returncode == 2
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "evalgate.toml:" in error
    assert "cassettes.scrub.pattern: scrub rule 'mine' took longer than 1 s" in error
    assert "hint: make it narrower" in done.stderr
    assert "Traceback" not in done.stderr
    assert scripted.requests == []
    assert not (repo.path / "cassettes").exists()


def test_a_rule_added_later_ends_the_replay(repo, scripted, evalgate):
    """Then the recording itself is scrubbed by it, before any agent runs."""
    write_letters(repo)
    repo.commit("letters")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    with_rule(repo, ENDLESS)
    done = evalgate("replay", cwd=repo.path)
    assert done.returncode == 2
    assert "scrub rule 'mine' took longer" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rule_that_takes_all_is_refused_before_anything_runs(repo, scripted, evalgate):
    """It would make all requests one."""
    with_rule(repo, r"[\s\S]+")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2
    assert "scrub rule 'mine' takes most of any text" in done.stderr
    assert scripted.requests == []


def test_a_rule_never_touches_the_model_or_a_tool(repo, scripted, evalgate):
    """The model's id stands in the recording as it is asked for."""
    with_rule(repo, r"scripted-\d|double")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    tapes = [json.loads(p.read_text()) for p in (repo.path / "cassettes").rglob("*.json")]
    assert [tape["parts"]["model"] for tape in tapes] == [["scripted-1"]] * 6
    assert "<X>" in json.dumps(tapes)
    assert evalgate("replay", cwd=repo.path).returncode == 0

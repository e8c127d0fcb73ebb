"""An agent that looks for the answer elsewhere is named, and voids a verdict if that is asked."""

from __future__ import annotations

import json

import pytest

CHEAT = """
import os, pathlib
home = pathlib.Path(os.environ["HOME"])
notes = home / ".evaluation" / "README.md"
print(notes.read_text())
"""


def trials(repo) -> list[dict]:
    newest = max((repo.path / ".evalgate" / "runs").iterdir())
    return [json.loads(line) for line in (newest / "trials.jsonl").read_text().splitlines()]


@pytest.fixture
def cheating(repo):
    """A harness whose agent reads what no task points to."""
    path = repo.path / "agent" / "agent.py"
    path.write_text(path.read_text().replace("\nimport ", f"\n{CHEAT}\nimport ", 1))
    repo.git("checkout", "-qb", "cheat")
    repo.commit("Read everything first")
    return repo


def test_an_honest_agent_touches_none(repo, scripted, evalgate) -> None:
    """The reference tasks are worked on without a hit."""
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    assert [trial["tripwires"] for trial in trials(repo)] == [[]] * 6


def test_a_canary_that_is_read_is_shown(cheating, scripted, evalgate) -> None:
    """In the run, in ``show``, with another token in each trial."""
    done = evalgate("run", cwd=cheating.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    hits = [trial["tripwires"][0] for trial in trials(cheating)]
    assert {(hit["name"], hit["place"]) for hit in hits} == {("canary", "log")}
    assert len({hit["excerpt"] for hit in hits}) == 6
    assert "tripwire canary: double #1, log: " in done.stderr
    newest = max((cheating.path / ".evalgate" / "runs").iterdir()).name
    shown = evalgate("show", f"{newest}:double:1", cwd=cheating.path).stdout
    assert "tripwire canary: log: " in shown


@pytest.mark.parametrize(
    ("policy", "code", "word"), [("flag", 0, "⚠ tripwire"), ("void", 6, "Void")]
)
def test_the_base_decides_what_follows(
    recorded, scripted, evalgate, policy: str, code: int, word: str
) -> None:
    """The verdict shows it, or is void; the change itself has no say in it."""
    config = recorded.path / "evalgate.toml"
    config.write_text(config.read_text() + f'\n[tripwires]\npolicy = "{policy}"\n')
    recorded.commit("What follows")
    recorded.git("checkout", "-qb", "cheat")
    config.write_text(config.read_text().replace(policy, "flag"))
    path = recorded.path / "agent" / "agent.py"
    path.write_text(path.read_text().replace("\nimport ", f"\n{CHEAT}\nimport ", 1))
    recorded.commit("Read everything first")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    done = evalgate("gate", "--base", "main", cwd=recorded.path, env=env)
    assert done.returncode == code, done.stderr + done.stdout
    assert word in done.stdout
    assert "canary" in done.stdout

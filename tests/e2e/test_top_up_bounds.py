"""`replay --record-missing`: within its bound and its budget, and nothing is paid for twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalgate.commands.project import WORKTREE, open_project, open_state
from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette
from tests.e2e.conftest import kill_at

AGENT = """
import json, os, urllib.request

def ask(text):
    body = json.dumps({"model": "scripted-1", "messages": [{"role": "user", "content": text}]})
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

for text in TEXTS:
    said = ask(text)
open("double.py", "w").write(said)
"""


def asks(repo, *texts: str) -> None:
    """Let the agent ask these, one after the other."""
    repo.write("agent/agent.py", AGENT.replace("TEXTS", repr(texts)))


def refit(repo) -> None:
    """Let the recordings be those of the harness as it is now."""
    with open_state(open_project(repo.path), WORKTREE) as state:
        fingerprint = state.fingerprint.digest
    (folder,) = (repo.path / "cassettes").iterdir()
    for path in sorted(folder.rglob("*.json")):
        tape = load_cassette(path.read_bytes(), name=str(path))
        header = replace(tape.header, fingerprint=fingerprint)
        again = tape.__class__(
            header=header, exchanges=tape.exchanges, claim=tape.claim, record=tape.record
        )
        path.write_bytes(dump_cassette(again))
    folder.rename(folder.with_name(fingerprint[:12]))


@pytest.fixture
def edited(repo, scripted, evalgate):
    """A repository whose agent now asks more than its recordings, so it seems, hold."""
    config = (repo.path / "evalgate.toml").read_text()
    begin, end = config.index("command = ["), config.index("]\n", config.index("command = [")) + 2
    command = 'command = ["python3", "{harness_dir}/agent/agent.py"]\n'
    repo.write("evalgate.toml", (config[:begin] + command + config[end:]).replace("= 3", "= 1"))
    scripted.answer = lambda request: (200, f"# {request['messages'][-1]['content']}")
    asks(repo, "one")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    asks(repo, "one", "two", "three")
    refit(repo)
    scripted.requests.clear()
    return repo


def asked(scripted) -> list[str]:
    """Return what the model was asked."""
    return [request["messages"][-1]["content"] for request in scripted.requests]


def latest(repo) -> Path:
    """Return the newest run folder."""
    return max((repo.path / ".evalgate" / "runs").iterdir())


@pytest.mark.parametrize("sandbox", ["bwrap", "process"])
def test_a_killed_top_up_pays_for_no_answer_twice(edited, scripted, evalgate, sandbox, start):
    """What it had asked is played; it counts for the bound, and proves nothing all the same."""
    config = (edited.path / "evalgate.toml").read_text()
    edited.write("evalgate.toml", config + f'[sandbox]\nuse = "{sandbox}"\n')
    refit(edited)
    command = ("replay", "double", "--record-missing", "2")
    kill_at(2, command, kept=2, repo=edited, scripted=scripted, start=start)
    assert asked(scripted) == ["two", "three"]
    done = evalgate(*command, cwd=edited.path, env={"SCRIPTED_URL": scripted.url})
    assert asked(scripted) == ["two", "three", "three"], done.stdout + done.stderr
    assert "topped up: double #1: 2 exchanges not recorded before" in done.stdout
    (line,) = (latest(edited) / "trials.jsonl").read_text().splitlines()
    assert json.loads(line)["evidence"] == "topped up"
    (sealed,) = latest(edited).rglob("cassette.json")
    tape = load_cassette(sealed.read_bytes(), name="it")
    assert len(tape.exchanges) == 3
    assert not list(latest(edited).rglob("*.journal*"))


def test_a_top_up_that_goes_on_keeps_to_its_bound(edited, scripted, evalgate, start):
    """Killed between two trials: what the finished one asked counts, and it stays topped up."""
    command = ("replay", "--record-missing", "3", "-j", "1")
    kill_at(3, command, kept=0, repo=edited, scripted=scripted, start=start)
    done = evalgate(*command, cwd=edited.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 7, done.stdout + done.stderr
    assert "topped up: double #1: 2 exchanges not recorded before" in done.stdout
    assert "not reproduced" not in done.stdout
    assert "--record-missing 3: 3 new exchanges asked: the bound is reached" in done.stdout
    assert asked(scripted) == ["two", "three", "two", "two"]


def test_a_bound_that_is_reached_is_named_with_what_is_left(edited, scripted, evalgate):
    """Three of four: one trial has all it needs, the other one lacks something."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", "3", "-j", "1", cwd=edited.path, env=env)
    assert done.returncode == 7, done.stdout + done.stderr
    assert len(scripted.requests) == 3
    assert "--record-missing 3: 3 new exchanges asked: the bound is reached" in done.stdout
    assert "not recorded as a whole: triple #1" in done.stdout


def test_a_bound_that_is_not_reached_says_what_is_left_of_it(edited, scripted, evalgate):
    """Four were needed, nine were allowed."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", "9", cwd=edited.path, env=env)
    assert "--record-missing 9: 4 new exchanges asked, 5 left" in done.stdout


def test_every_budget_holds_for_a_top_up(edited, scripted, evalgate):
    """Tokens as well as money: exit 8 and a hint, as of a run."""
    config = (edited.path / "evalgate.toml").read_text()
    edited.write("evalgate.toml", config + "[budget]\ntokens = 130\n")
    env = {"SCRIPTED_URL": scripted.url}
    command = ("replay", "--record-missing", "9", "-j", "1")
    done = evalgate(*command, cwd=edited.path, env=env)
    assert done.returncode == 8, done.stdout + done.stderr
    assert "the budget of 130 tokens is used up" in done.stderr
    assert len(scripted.requests) == 2
    edited.write("evalgate.toml", config)
    done = evalgate(*command, cwd=edited.path, env=env)
    assert asked(scripted) == ["two", "three", "two", "three"], done.stdout + done.stderr


def test_a_limit_of_money_needs_a_price_in_a_top_up_too(edited, scripted, evalgate):
    """Refused before the first call, as of a run."""
    config = (edited.path / "evalgate.toml").read_text()
    edited.write("evalgate.toml", config + "[budget]\nusd = 1\n")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", "9", cwd=edited.path, env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "its price is unknown, so a budget can not hold" in done.stderr
    assert not scripted.requests

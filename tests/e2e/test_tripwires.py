"""An agent that looks for the answer elsewhere is named, and voids a verdict if that is asked."""

from __future__ import annotations

import json
import re

import pytest

TOKEN = re.compile("EVALGATE-CANARY-[0-9a-f]{16}")

CHEAT = """
import os, pathlib
home = pathlib.Path(os.environ["HOME"])
notes = home / ".evaluation" / "README.md"
print(notes.read_text())
"""


#: Says the token in its log, long before its last words, in a file it hands back, and to the
#: model, which repeats it.
LOUD = (
    CHEAT
    + """
import json, re, urllib.request
token = re.search("EVALGATE-CANARY-[0-9a-f]+", notes.read_text())[0]
pathlib.Path("notes.md").write_text("x" + token)
print("SEEN" + "-IT", "." * 400)
body = {"model": "scripted-1", "messages": [{"role": "user", "content": "Repeat " + token}]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
headers = {"content-type": "application/json"}
request = urllib.request.Request(url, json.dumps(body).encode(), headers)
assert token in urllib.request.urlopen(request).read().decode()
print("Done.")
"""
)

#: Looks into logs, and nowhere else.
WIRE = """
[[tripwires.own]]
name = "seen"
pattern = "SEEN-[A-Z]+"
reason = "it says so"
in = ["log"]
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
    """In the run, in ``show``, with a label for the token, which is another one in each trial."""
    done = evalgate("run", cwd=cheating.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    hits = [trial["tripwires"][0] for trial in trials(cheating)]
    assert {(hit["name"], hit["place"]) for hit in hits} == {("canary", "log")}
    assert all("<CANARY>" in hit["excerpt"] for hit in hits)
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


def make_loud(repo, scripted) -> None:
    """Let the agent read everything first, and the model repeat what it is told."""
    path = repo.path / "agent" / "agent.py"
    path.write_text(path.read_text().replace("\nimport ", f"\n{LOUD}\nimport ", 1))
    answer = scripted.answer

    def repeat(request) -> tuple[int, str]:
        said = request["messages"][-1]["content"]
        return (200, said) if said.startswith("Repeat ") else answer(request)

    scripted.answer = repeat


@pytest.mark.parametrize("policy", ["flag", "void"])
def test_a_regrade_names_what_the_recorded_trial_did(recorded, scripted, evalgate, policy) -> None:
    """The gate's evidence as it is when nobody says otherwise: committed recordings."""
    config = recorded.path / "evalgate.toml"
    config.write_text(config.read_text() + f'\n[tripwires]\npolicy = "{policy}"\n{WIRE}')
    recorded.commit("What follows")
    recorded.git("checkout", "-qb", "cheat")
    make_loud(recorded, scripted)
    recorded.commit("Read everything first")
    done = evalgate("run", "--record", cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    measured = [trial["tripwires"] for trial in trials(recorded)]
    named = [(hit["name"], hit["place"]) for hit in measured[0]]
    assert named == [("seen", "log"), ("canary", "log"), ("canary", "notes.md")]
    recorded.commit("Recordings")
    done = evalgate("gate", "--base", "main", cwd=recorded.path)
    assert done.returncode == {"flag": 1, "void": 6}[policy], done.stderr + done.stdout
    for words in ("tripwire seen: double", "tripwire canary: double", "notes.md"):
        assert words in done.stdout
    for command in ("replay", "regrade"):
        done = evalgate(command, cwd=recorded.path)
        assert done.returncode == 0, done.stderr
        assert [trial["tripwires"] for trial in trials(recorded)] == measured


def test_a_claim_that_takes_the_name_of_a_hidden_test_is_shown(repo, scripted, evalgate) -> None:
    """Of that task's own tests alone; the same again where a recording is graded."""
    path = repo.path / "agent" / "agent.py"
    planted = '\nimport pathlib\npathlib.Path("test_double.py").write_text("# mine")\nimport '
    path.write_text(path.read_text().replace("\nimport ", planted, 1))
    repo.commit("Guess")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    assert "tripwire hidden-tests: double #1, test_double.py" in done.stderr
    for again in (False, True):
        if again:
            done = evalgate("regrade", cwd=repo.path)
            assert done.returncode == 0, done.stderr
        for trial in trials(repo):
            named = [(hit["name"], hit["place"]) for hit in trial["tripwires"]]
            expected = [("hidden-tests", "test_double.py")] if trial["task"] == "double" else []
            assert named == expected, trial["task"]


def test_the_token_is_in_nothing_that_is_kept(repo, scripted, evalgate) -> None:
    """Not even where the model repeats it; two replays give the same, to the byte."""
    make_loud(repo, scripted)
    repo.commit("Read everything first")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    assert any(TOKEN.search(json.dumps(request)) for request in scripted.requests)
    said = []
    for _ in range(2):
        done = evalgate("replay", cwd=repo.path)
        assert done.returncode == 0, done.stderr
        said.append(sorted(map(json.dumps, trials(repo))))
    assert said[0] == said[1]
    for path in [*(repo.path / "cassettes").rglob("*"), *(repo.path / ".evalgate").rglob("*")]:
        if path.is_file():
            assert not TOKEN.search(path.read_bytes().decode("utf-8", "replace")), path


@pytest.mark.parametrize(
    ("pattern", "said"), [("(a|aa)+$", "took longer than 1 s"), (r"\\w+", "takes most of any text")]
)
def test_a_pattern_that_can_not_be_run_is_named(repo, scripted, evalgate, pattern, said) -> None:
    """Not for ever, and not as an internal error: the line of the configuration is told."""
    config = repo.path / "evalgate.toml"
    config.write_text(config.read_text() + WIRE.replace("SEEN-[A-Z]+", pattern))
    path = repo.path / "agent" / "agent.py"
    path.write_text(path.read_text().replace("\nimport ", '\nprint("a" * 60 + "!")\nimport ', 1))
    repo.commit("A tripwire")
    done = evalgate("run", "double", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2, done.stderr
    assert f"tripwire 'seen' {said}" in done.stderr
    assert "error: evalgate.toml:" in done.stderr

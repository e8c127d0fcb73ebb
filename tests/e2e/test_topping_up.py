"""Replays that ask for more: stale ones, topped-up ones, and runs that were killed half-way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette
from tests.e2e.conftest import kill_at

TWO_TURNS = """
import json, os, urllib.request

def ask(text):
    body = json.dumps({"model": "scripted-1", "messages": [{"role": "user", "content": text}]})
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

plan = ask("plan for double")
code = ask("now double, by " + plan)
open("double.py", "w").write(code.split("```python\\n")[1].split("```")[0])
"""


def latest(repo) -> Path:
    """Return the newest run folder."""
    return max((repo.path / ".evalgate" / "runs").iterdir())


def tapes(folder: Path) -> dict[Path, bytes]:
    """Return every cassette below a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*.json"))}


def forge(repo) -> None:
    """Edit the agent's code, and let the recordings claim to be of the edited harness."""
    from evalgate.commands.project import WORKTREE, open_project, open_state

    agent = (repo.path / "agent/agent.py").read_text()
    repo.write(
        "agent/agent.py",
        agent.replace('"role": "user", "content": ', '"role": "user", "content": "X" + '),
    )
    with open_state(open_project(repo.path), WORKTREE) as state:
        fingerprint = state.fingerprint.digest
    (folder,) = (repo.path / "cassettes").iterdir()
    for path in sorted(folder.rglob("*.json")):
        tape = load_cassette(path.read_bytes(), name=str(path))
        header = replace(tape.header, fingerprint=fingerprint)
        forged = tape.__class__(
            header=header, exchanges=tape.exchanges, claim=tape.claim, record=tape.record
        )
        path.write_bytes(dump_cassette(forged))
    folder.rename(folder.with_name(fingerprint[:12]))


def test_a_stale_replay_shows_that_an_edited_harness_runs_and_measures_nothing(
    recorded, scripted, evalgate
):
    """Every line says so, no model is asked, and no trial is kept."""
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    runs = len(list((recorded.path / ".evalgate" / "runs").iterdir()))
    scripted.requests.clear()
    done = evalgate("replay", "--allow-stale", "prompt", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert lines[:2] == [
        "stale (prompt): double: runs: nothing measured",
        "stale (prompt): triple: runs: nothing measured",
    ]
    assert all("stale (prompt)" in line and "nothing measured" in line for line in lines)
    assert not scripted.requests
    assert len(list((recorded.path / ".evalgate" / "runs").iterdir())) == runs


def test_a_stale_replay_takes_the_sandbox_that_was_recorded_in(repo, scripted, evalgate):
    """With `auto`, as any replay: another one might have to be made first."""
    env = {"SCRIPTED_URL": scripted.url}
    command = ("run", "--record", "--sandbox", "process")
    assert evalgate(*command, cwd=repo.path, env=env).returncode == 0
    repo.write("agent/prompts/rewrite.md", "Another prompt.\n")
    done = evalgate("replay", "--allow-stale", "prompt", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert "sandbox: process:" in done.stderr


def test_a_stale_replay_is_only_of_what_was_allowed(recorded, evalgate):
    """Other parts are named with what would allow them; a part that is none is exit 2."""
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    done = evalgate("replay", "--allow-stale", "tools", cwd=recorded.path)
    assert done.returncode == 7
    assert "differ in more: prompt" in done.stderr
    assert "--allow-stale prompt" in done.stderr
    done = evalgate("replay", "--allow-stale", "promt", cwd=recorded.path)
    assert done.returncode == 2
    assert "promt" in done.stderr


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (
            ["promt"],
            "--allow-stale promt: the harness has no such part",
            "one of code, prompt, settings, tools",
        ),
        (
            ["prompt", "--record-missing", "2"],
            "--allow-stale and --record-missing do not go together",
            "leave one of them out",
        ),
        (["prompt", "--faults", "retry"], "--allow-stale and --faults", "leave one of them out"),
        (["prompt", "--pace", "2"], "--allow-stale and --pace", "leave one of them out"),
    ],
)
def test_a_stale_replay_refuses_what_it_would_ignore(
    recorded, evalgate, edited, arguments, said, hint
):
    """Also where the harness has recordings of its own."""
    if edited:
        recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    done = evalgate("replay", "--allow-stale", *arguments, cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert f"error: {said}" in done.stderr
    assert hint in done.stderr


def test_a_stale_replay_of_a_harness_that_is_recorded_is_refused(recorded, evalgate):
    """Nothing is stale, and a plain replay would say more."""
    done = evalgate("replay", "--allow-stale", "prompt", cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert "has recordings: nothing is stale" in done.stderr
    assert "hint: leave --allow-stale out" in done.stderr


def test_a_stale_replay_names_an_agent_that_no_longer_runs(recorded, evalgate):
    """Exit 7: the plumbing is broken, whatever the prompt is worth."""
    recorded.write("agent/agent.py", "raise SystemExit('no such flag')\n")
    done = evalgate("replay", "--allow-stale", "code", cwd=recorded.path)
    assert done.returncode == 7
    assert "stale (code): double: the agent" in done.stdout
    assert "nothing measured" in done.stdout


def test_what_is_missing_is_asked_of_the_model_within_a_bound(recorded, scripted, evalgate):
    """Two requests may go out, so two do; the committed recordings stay as they are."""
    forge(recorded)
    before = tapes(recorded.path / "cassettes")
    scripted.requests.clear()
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", "2", "-j", "1", cwd=recorded.path, env=env)
    assert done.returncode == 7, done.stdout + done.stderr
    assert len(scripted.requests) == 2
    assert done.stdout.count("topped up: ") == 2
    assert done.stdout.count("\ndiverged: ") == 4
    assert tapes(recorded.path / "cassettes") == before


def test_a_topped_up_replay_proves_nothing(recorded, scripted, evalgate):
    """It keeps its recordings in the run folder; neither baseline nor gate takes its numbers."""
    forge(recorded)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", "6", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 topped up prove nothing" in done.stdout
    run = latest(recorded)
    lines = (run / "trials.jsonl").read_text().splitlines()
    kept = {json.loads(line)["evidence"] for line in lines}
    assert kept == {"topped up"}
    assert len(list(run.rglob("cassette.json"))) == 6
    assert not list(run.rglob("*.journal*"))
    refused = evalgate("baseline", "accept", run.name, cwd=recorded.path)
    assert refused.returncode == 2
    assert "topped up" in refused.stderr


def test_a_top_up_stays_one_whatever_is_made_of_it(recorded, scripted, evalgate):
    """Neither graded again nor laid on the shelf does it come to prove something."""
    forge(recorded)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("replay", "--record-missing", "6", cwd=recorded.path, env=env).returncode == 0
    refused = evalgate("regrade", "latest", cwd=recorded.path)
    assert refused.returncode == 2, refused.stdout
    assert "is topped up, and proves nothing" in refused.stderr
    (folder,) = (recorded.path / "cassettes").iterdir()
    sealed = latest(recorded).rglob("cassette.json")
    for path in sealed:
        place = folder / path.parent.parent.name / f"{path.parent.name}.json"
        place.write_bytes(path.read_bytes())
    for verb in ("regrade", "replay"):
        done = evalgate(verb, cwd=recorded.path)
        assert done.returncode == 2, done.stdout
        assert "is topped up, which proves nothing" in done.stderr
    done = evalgate("cassette", "verify", cwd=recorded.path)
    assert done.returncode == 6
    assert done.stdout.count("is topped up, which proves nothing") == 6


@pytest.mark.parametrize("most", ["0", "5"])
def test_a_replay_with_nothing_missing_asks_nobody(recorded, scripted, evalgate, most):
    """The bound is a bound, not a wish; what was not topped up is not called that."""
    scripted.requests.clear()
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("replay", "--record-missing", most, cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reproduced: all 6 recorded trials" in done.stdout
    assert "evidence: replayed" in done.stdout
    assert "topped up" not in done.stdout + done.stderr
    refused = evalgate("baseline", "accept", cwd=recorded.path)
    assert refused.returncode == 2
    assert "is a replay that the model of today might have topped up" in refused.stderr
    assert not scripted.requests


@pytest.mark.parametrize("kills", [1, 2])
def test_a_killed_run_pays_for_no_answer_twice(repo, scripted, evalgate, start, kills):
    """SIGKILL between two turns: the first one is played from the journal, the second asked."""
    repo.write("agent/agent.py", TWO_TURNS)
    config = (repo.path / "evalgate.toml").read_text()
    begin, end = config.index("command = ["), config.index("]\n", config.index("command = [")) + 2
    command = 'command = ["python3", "{harness_dir}/agent/agent.py"]\n'
    repo.write("evalgate.toml", config[:begin] + command + config[end:])
    repo.commit("An agent of two turns")
    plain = scripted.answer

    def answer(request):
        if "plan" in request["messages"][-1]["content"].split()[0]:
            return 200, "doubling"
        return plain({"messages": [{"content": ""}, *request["messages"]]})

    scripted.answer = answer
    command = ("run", "double", "-k", "1", "-j", "1")
    for kill in range(kills):
        kill_at(2 + kill, command, kept=1, repo=repo, scripted=scripted, start=start)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "double", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "1/1 passed" in done.stdout
    texts = [request["messages"][-1]["content"] for request in scripted.requests]
    assert texts.count("plan for double") == 1
    assert texts.count("now double, by doubling") == kills + 1
    (path,) = latest(repo).rglob("cassette.json")
    tape = load_cassette(path.read_bytes(), name="it")
    assert len(tape.exchanges) == 2
    assert not list(latest(repo).rglob("*.journal*"))

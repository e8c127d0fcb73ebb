"""`evalgate replay` and `evalgate regrade`: the recorded trials again, without a model."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest


def latest(repo) -> Path:
    return max((repo.path / ".evalgate" / "runs").iterdir())


def without_times(path: Path) -> dict:
    value = json.loads((path / "run.json").read_text())
    del value["times"]
    return value


def trials(path: Path) -> list[dict]:
    lines = (path / "trials.jsonl").read_text().splitlines()
    return sorted(map(json.loads, lines), key=lambda trial: (trial["task"], trial["n"]))


def cassettes(repo) -> list[Path]:
    return sorted((repo.path / "cassettes").rglob("*.json"))


@pytest.mark.parametrize("verb", ["replay", "regrade"])
def test_recorded_trials_are_reproduced_twice(recorded, scripted, evalgate, verb):
    """Same outcomes, checks and signals; run.json equal but for its marked times; no request."""
    measured = trials(latest(recorded))
    scripted.requests.clear()
    done = evalgate(verb, cwd=recorded.path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "reproduced: all 6 recorded trials" in done.stdout
    first = latest(recorded)
    assert evalgate(verb, cwd=recorded.path).returncode == 0
    second = latest(recorded)
    assert first != second
    assert without_times(first) == without_times(second)
    assert trials(first) == trials(second)
    for then, now in zip(measured, trials(first), strict=True):
        for field in ("outcome", "reason", "checks", "signals", "cassette", "conditions"):
            assert then[field] == now[field]
    assert not scripted.requests


@pytest.mark.parametrize("verb", ["replay", "regrade"])
def test_the_seconds_of_a_recorded_trial_are_marked(recorded, evalgate, verb):
    """They were measured then, and not here."""
    done = evalgate(verb, cwd=recorded.path)
    lines = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert len(lines) == 6
    assert all(re.search(r" #\d \d+\.\ds as recorded$", line) for line in lines), lines


@pytest.mark.parametrize("pace", ["nan", "inf", "-inf", "-1", "1e7", "x"])
def test_a_pace_is_a_finite_number(recorded, evalgate, pace):
    """Of 0 or more; nothing is run."""
    done = evalgate("replay", f"--pace={pace}", cwd=recorded.path)
    assert done.returncode == 2
    assert "error: Invalid value for '--pace'" in done.stderr
    assert "hint: " in done.stderr


def test_a_paced_replay_is_the_same_replay(recorded, evalgate):
    """However fast the pieces of a stream come."""
    done = evalgate("replay", "--pace", "1000", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "reproduced: all 6 recorded trials" in done.stdout


def test_a_replay_works_in_a_fresh_clone_without_network(recorded, tmp_path):
    """Only loopback is up, there is no key and no upstream."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are forbidden here")
    clone = tmp_path / "clone"
    recorded.git("clone", "-q", str(recorded.path), str(clone))
    evalgate = shutil.which("evalgate") or str(
        Path(__import__("sys").executable).parent / "evalgate"
    )
    script = f'ip link set lo up 2>/dev/null; exec "{evalgate}" replay'
    done = subprocess.run(
        ["unshare", "-rn", "sh", "-c", script],
        cwd=clone,
        env=recorded.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "reproduced: all 6" in done.stdout


def test_an_edited_prompt_makes_recordings_stale(recorded, evalgate):
    """Exit 7 names the new harness and the stale recordings; nothing is replayed."""
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    done = evalgate("replay", cwd=recorded.path)
    assert done.returncode == 7
    assert "no recording of this harness" in done.stderr
    assert "stale" in done.stderr
    assert "hint: record it: evalgate run --record" in done.stderr


def test_a_request_that_was_not_recorded_diverges(recorded, evalgate):
    """Exit 7 names the nearest exchange and the JSON path that differs; errored, not failed.

    The harness is the same, but the instruction the agent sends has moved on: here the
    agent reads a variable of its environment.
    """
    agent = (recorded.path / "agent/agent.py").read_text()
    changed = agent.replace('"role": "user", "content": ', '"role": "user", "content": "X" + ')
    assert changed != agent
    rerecord_as(recorded, "agent/agent.py", changed)
    done = evalgate("replay", "double", "-j", "1", cwd=recorded.path)
    assert done.returncode == 7, done.stdout + done.stderr
    assert "diverged: double #1: nearest is exchange 0, which differs in:" in done.stdout
    assert "messages" in done.stdout
    assert {trial["outcome"] for trial in trials(latest(recorded))} == {"errored"}


def rerecord_as(repo, name: str, text: str) -> None:
    """Write a file and forge recordings of the old harness as recordings of the new one."""
    from evalgate.commands.project import WORKTREE, open_project, open_state
    from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette

    repo.write(name, text)
    with open_state(open_project(repo.path), WORKTREE) as state:
        fingerprint = state.fingerprint.digest
    for path in cassettes(repo):
        tape = load_cassette(path.read_bytes(), name=str(path))
        forged = tape.__class__(
            header=replace(tape.header, fingerprint=fingerprint),
            exchanges=tape.exchanges,
            claim=tape.claim,
            record=tape.record,
        )
        place = repo.path / "cassettes" / fingerprint[:12] / path.parent.name / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(dump_cassette(forged))


def test_an_unused_exchange_is_reported(recorded, evalgate):
    """An agent that asks nothing leaves its recording unplayed, and the report says so."""
    rerecord_as(recorded, "agent/agent.py", "pass\n")
    done = evalgate("replay", "double", cwd=recorded.path)
    assert done.returncode == 6
    assert "unused: double #1: 1 recorded exchange not asked for" in done.stdout
    assert "not reproduced: double #1: outcome: passed → failed" in done.stdout


def test_numbers_that_can_not_be_reproduced_are_named(recorded, evalgate):
    """A recording whose outcome was changed is exit 6, the trial named."""
    from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette

    path = cassettes(recorded)[0]
    tape = load_cassette(path.read_bytes(), name="x")
    measured = {**tape.record["measured"], "outcome": "failed"}
    forged = tape.__class__(
        header=tape.header,
        exchanges=tape.exchanges,
        claim=tape.claim,
        record={**tape.record, "measured": measured},
    )
    path.write_bytes(dump_cassette(forged))
    done = evalgate("regrade", cwd=recorded.path)
    assert done.returncode == 6
    assert "not reproduced: double #1: outcome: failed → passed" in done.stdout


@pytest.mark.parametrize("damage", ["cut", "edited", "empty", "newer"])
def test_a_damaged_cassette_is_an_error_never_an_empty_one(recorded, evalgate, damage):
    """Exit 2 names the file."""
    path = cassettes(recorded)[0]
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[: len(data) // 2],
            "edited": data.replace(b"n * 2", b"n * 3"),
            "empty": b"",
            "newer": data.replace(b'"format": 2,\n "header"', b'"format": 9,\n "header"'),
        }[damage]
    )
    done = evalgate("replay", cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert path.name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_of_one_s_own_can_be_regraded(repo, scripted, evalgate):
    """`regrade RUN` needs no committed cassette."""
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "-k", "1", cwd=repo.path, env=env).returncode == 0
    done = evalgate("regrade", "latest", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert "reproduced: all 2" in done.stdout


def test_a_regrade_is_no_baseline_for_tasks_its_source_lacks(repo, scripted, evalgate):
    """It plans all tasks, and has the trials of one."""
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "double", cwd=repo.path, env=env).returncode == 0
    assert evalgate("regrade", "latest", cwd=repo.path).returncode == 0
    done = evalgate("baseline", "accept", "-k", "1", cwd=repo.path)
    assert done.returncode == 2, done.stdout
    assert "does not cover: triple" in done.stderr


def test_an_unfinished_run_is_not_regraded(repo, scripted, evalgate):
    """What is left of it would look like a whole one."""
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config + "[budget]\ntokens = 120\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "-j", "1", cwd=repo.path, env=env).returncode == 8
    done = evalgate("regrade", "latest", cwd=repo.path)
    assert done.returncode == 2, done.stdout
    assert "is not finished" in done.stderr
    assert "hint: repeat its command" in done.stderr


def test_recording_again_is_asked_for_and_counted(recorded, scripted, evalgate):
    """A second recording of one harness needs --again, and the baseline says so."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=recorded.path, env=env)
    assert done.returncode == 2
    assert "--again" in done.stderr
    assert evalgate("run", "--record", "--again", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    texts = [p.read_text() for p in (recorded.path / "baselines").glob("*.toml")]
    assert sum("recordings = 2" in text for text in texts) == 1


def test_recording_a_new_harness_leaves_the_committed_ones(recorded, scripted, evalgate):
    """The base's recordings stay beside the new ones: a deletion would look like a renaming."""
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    assert len(list((recorded.path / "cassettes").iterdir())) == 2
    assert evalgate("replay", cwd=recorded.path).returncode == 0


def test_a_task_without_a_recording_is_named(recorded, evalgate):
    """A replay of a suite that has grown says what is missing."""
    shutil.copytree(recorded.path / "tasks/double", recorded.path / "tasks/extra")
    text = (recorded.path / "tasks/extra/task.toml").read_text()
    recorded.write("tasks/extra/task.toml", text.replace('name = "double"', 'name = "extra"'))
    done = evalgate("replay", cwd=recorded.path)
    assert done.returncode == 7
    assert "extra (never recorded)" in done.stderr

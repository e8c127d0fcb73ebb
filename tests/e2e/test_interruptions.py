"""Ctrl-C, once, twice and in a panic: one error, one hint, exit 130, nothing left running."""

from __future__ import annotations

import json
import signal
import threading
import time
import tomllib
from pathlib import Path

import pytest

from tests.e2e.conftest import prompt

#: It sleeps, and so does a child that no group holds and no TERM ends.
SLEEPING = """
import subprocess, time
subprocess.Popen(["setsid", "sh", "-c", 'trap "" TERM INT; sleep 600'])
time.sleep(600)
"""


def alive(repo) -> list[int]:
    """Return the processes that this test's agent is or started."""
    config = tomllib.loads((repo.path / "evalgate.toml").read_text())
    mark = f"TEST_MARK={config['agent']['env']['TEST_MARK']}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0"):
            found.append(int(path.parent.name))
    return found


def test_an_unfinished_run_is_told_as_one(recorded, evalgate):
    """Wherever it is shown, with how many trials it has and how to go on."""
    assert evalgate("regrade", cwd=recorded.path).returncode == 0
    for words in ("show latest --json", "read latest --json"):
        done = evalgate(*words.split(), cwd=recorded.path)
        assert json.loads(done.stdout)["unfinished"] == "", words
    run = max((recorded.path / ".evalgate/runs").iterdir())
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**info, "finished": False}))
    lines = (run / "trials.jsonl").read_text().splitlines(keepends=True)
    (run / "trials.jsonl").write_text("".join(lines[:4]))
    said = "this run is not finished: 4 of 6 trials made; the command that made it begins anew"
    for words in (
        *("show latest", "show latest:double", "show latest:double:1", "read latest"),
        *("report", "report --format junit", "compare latest latest"),
        *("show latest --json", "show latest:double:1 --json", "read latest --json"),
    ):
        done = evalgate(*words.split(), cwd=recorded.path)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout, words
        assert done.stdout.count("<skipped ") == (2 if "junit" in words else 0)
    (run / "trials.jsonl").write_text("")
    done = evalgate("show", "latest", cwd=recorded.path)
    assert done.returncode == 2
    assert "0 of 6 trials made" in done.stderr


@pytest.mark.parametrize("sandbox", ["bwrap", "process"])
@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGINT],
        [signal.SIGINT] * 2,
        [signal.SIGINT] * 5,
        [signal.SIGTERM],
        [signal.SIGHUP],
        [signal.SIGTERM, signal.SIGINT, signal.SIGTERM],
    ],
    ids=lambda signals: "+".join(one.name for one in signals),
)
def test_however_often_it_is_interrupted(repo, scripted, start, tmp_path, signals, sandbox):
    """The first in order, the second at once, any further nothing: the words are the same."""
    if sandbox == "bwrap":
        from evalgate.sandboxes.bwrap import BwrapProvider

        if BwrapProvider().unavailable() is not None:
            pytest.skip("bwrap can not run here")
    repo.write("agent/agent.py", SLEEPING)
    temp = tmp_path / "rooms"
    temp.mkdir()
    env = {"SCRIPTED_URL": scripted.url, "TMPDIR": str(temp)}
    with start("run", "-j", "2", "--sandbox", sandbox, cwd=repo.path, env=env) as running:
        deadline = time.monotonic() + 60
        while len(alive(repo)) < 4:
            assert time.monotonic() < deadline
            assert running.poll() is None, running.communicate()
            time.sleep(0.02)
        for number in signals:
            running.send_signal(number)
            time.sleep(0.01)
        output, errors = running.communicate(timeout=30)
    assert running.returncode == 130, errors
    assert output == ""
    assert errors.count("error: ") == 1
    assert errors.count("hint: the same command goes on") == 1
    assert "interrupted" in errors
    assert "Traceback" not in errors
    # What the system ends with its parent is gone a moment later.
    while alive(repo):
        assert time.monotonic() < deadline + 60
        time.sleep(0.01)
    assert not list(temp.glob("evalgate-room-*"))


def test_a_program_is_told_in_json(repo, scripted, start):
    """The second one as well: one document on stdout, and its code."""
    repo.write("agent/agent.py", SLEEPING)
    env = {"SCRIPTED_URL": scripted.url}
    with start("--json", "run", "--sandbox", "process", cwd=repo.path, env=env) as running:
        deadline = time.monotonic() + 60
        while not alive(repo):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for _ in range(3):
            running.send_signal(signal.SIGINT)
            time.sleep(0.01)
        output, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    assert json.loads(output)["error"]["exit_code"] == 130
    assert json.loads(output)["error"]["hint"].startswith("the same command goes on")
    assert "error" not in errors
    assert "Traceback" not in errors


def interrupt_at(
    number: int, scripted, start, *words: str, repo, env, series: str = "main"
) -> tuple[str, str]:
    """Start a command, end it with Ctrl-C when the model is asked that often; return its words.

    What was asked before is finished then, and on disk.
    """
    had = len(kept(repo, series))
    before, right = len(scripted.requests), scripted.answer
    reached, go = threading.Event(), threading.Event()

    def answer(request):
        if len(scripted.requests) - before >= number:
            reached.set()
            go.wait(60)
        return right(request)

    scripted.answer = answer
    with start(*words, cwd=repo.path, env=env) as running:
        assert reached.wait(60)
        deadline = time.monotonic() + 60
        while len(kept(repo, series)) < had + number - 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=30)
    go.set()
    scripted.answer = right
    assert running.returncode == 130, errors
    assert "Traceback" not in errors
    deadline = time.monotonic() + 60
    while alive(repo):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return output, errors


def kept(repo, series: str = "main") -> list[tuple[str, str, int]]:
    """Return harness, task and number of all trials of a series on disk, finished runs or not."""
    lines = []
    for path in sorted((repo.path / ".evalgate/runs").glob("*/trials.jsonl")):
        lines += [json.loads(line) for line in path.read_text().splitlines()]
    return [(one["fingerprint"], one["task"], one["n"]) for one in lines if one["series"] == series]


def test_a_bisection_goes_on_where_it_was_interrupted(recorded, scripted, start, evalgate):
    """Nothing that was finished is paid for again, though another number is made at once now."""
    repo, env = recorded, {"SCRIPTED_URL": scripted.url}
    first = repo.git("rev-parse", "HEAD")
    commits = [prompt(repo, words) for words in ("Please.", "Be WRONG.", "Be WRONG again.")]
    words = ("bisect", "double", f"{first}..HEAD")
    output, errors = interrupt_at(2, scripted, start, *words, repo=repo, env=env, series="bisect")
    assert output == ""
    assert "interrupted: 1 of 3 trials are kept" in errors
    assert "hint: the same command goes on where this stopped" in errors
    assert len(kept(repo, "bisect")) == 1
    # Once more, between the ends now, where as many are asked for as are made at once.
    interrupt_at(8, scripted, start, *words, "-j", "3", repo=repo, env=env, series="bisect")
    before, paid = kept(repo, "bisect"), len(scripted.requests)
    done = evalgate("--json", *words, "-j", "2", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["culprit"]["commits"] == [commits[1]]
    made = kept(repo, "bisect")
    assert len({*made}) == len(made)
    # Less where the model's answer was kept of a trial that was cut off.
    assert len(scripted.requests) - paid <= len(made) - len(before)
    assert sum(one["measured"] for one in found["harnesses"]) == len(made) + 3
    again = evalgate("--json", *words, cwd=repo.path, env=env)
    assert json.loads(again.stdout)["culprit"] == found["culprit"]
    assert len(kept(repo, "bisect")) == len(made)


def test_a_session_goes_on_where_it_was_interrupted(repo, scripted, start, evalgate):
    """The day's session is made once."""
    env = {"SCRIPTED_URL": scripted.url}
    words = ("drift", "--live", "-j", "1")
    interrupt_at(3, scripted, start, *words, repo=repo, env=env)
    assert len(kept(repo)) == 2
    for _ in range(2):
        done = evalgate(*words, cwd=repo.path, env=env)
        assert done.returncode == 0, done.stderr
        assert len({*kept(repo)}) == len(kept(repo)) == 6
        assert len(scripted.requests) == 6 + 1


def test_a_gate_goes_on_where_it_was_interrupted(recorded, scripted, start, evalgate):
    """Also where the next one is asked for another number of trials than the first."""
    repo, env = recorded, {"SCRIPTED_URL": scripted.url}
    prompt(repo, "Please.")
    before, paid = kept(repo), len(scripted.requests)
    words = ("gate", "--live", "--base", "HEAD~1", "-j", "1")
    _, errors = interrupt_at(3, scripted, start, *words, repo=repo, env=env)
    assert "interrupted: 2 of 6 trials are kept" in errors
    text = (repo.path / "evalgate.toml").read_text()
    repo.git("checkout", "-q", "HEAD~1")
    repo.write("evalgate.toml", text.replace("trials = 3", "trials = 2"))
    repo.commit("Fewer trials")
    prompt(repo, "Please.")
    done = evalgate(*words, cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert len(kept(repo)) - len(before) == 4
    assert len(scripted.requests) - paid == 4 + 1

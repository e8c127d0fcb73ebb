"""Ctrl-C, once, twice and in a panic: one error, one hint, exit 130, nothing left running."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

#: It sleeps, and so does a child that no group holds and no TERM ends.
SLEEPING = """
import subprocess, time
subprocess.Popen(["setsid", "sh", "-c", 'trap "" TERM INT; sleep 600'])
time.sleep(600)
"""


def alive(repo) -> list[int]:
    """Return the processes that this test's agent is or started."""
    mark = f"TEST_MARK={repo.path.parent}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0"):
            found.append(int(path.parent.name))
    return found


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

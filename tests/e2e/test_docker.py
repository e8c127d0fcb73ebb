"""Trials in containers, end to end: recorded, replayed, killed, and nothing left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from evalgate.sandboxes.docker import Engine

SCRIPT = Path(sys.executable).parent / "evalgate"


def containers_of(pid: int) -> list[str]:
    """Return the containers that a process owns."""
    return [name for name in Engine().ours() if name.startswith(f"evalgate-room-{pid}-")]


def test_trials_are_recorded_and_replayed_in_containers(repo, scripted, evalgate, engine) -> None:
    """The agent reaches the gateway through the tunnel, and the recording is played there again."""
    env = {**engine, "SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "sandbox: docker" in done.stderr
    asked = len(scripted.requests)
    (run,) = (repo.path / ".evalgate" / "runs").iterdir()
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    assert {trial["conditions"]["sandbox"] for trial in trials} == {"docker"}
    assert all(all(trial["conditions"]["promises"].values()) for trial in trials)
    done = evalgate("replay", cwd=repo.path, env=engine)
    assert done.returncode == 0, done.stderr
    assert "6/6" in done.stdout + done.stderr
    assert "sandbox: docker" in done.stderr
    assert len(scripted.requests) == asked


def test_a_replay_needs_no_engine(repo, scripted, evalgate, engine) -> None:
    """Where the recorded sandbox is not there, another one is taken and named."""
    env = {**engine, "SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    done = evalgate("replay", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert "sandbox: docker" not in done.stderr


def test_what_a_killed_run_leaves_is_removed_by_the_next_command(
    repo, scripted, evalgate, engine, tmp_path
) -> None:
    """After SIGKILL the container goes with the next start, and what lives stays.

    In a folder for rooms of its own: the start of another test's command would do it as well.
    """
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    engine = {**engine, "TMPDIR": str(rooms)}
    answer = scripted.answer

    def slow(request):
        time.sleep(30)
        return answer(request)

    scripted.answer = slow
    environment = {**repo.environment, **engine, "SCRIPTED_URL": scripted.url}
    process = subprocess.Popen([SCRIPT, "run"], cwd=repo.path, env=environment)
    while not containers_of(process.pid):
        time.sleep(0.05)
        assert process.poll() is None
    shown = evalgate("--json", "clean", "--dry-run", cwd=repo.path, env=engine)
    assert not [one for one in json.loads(shown.stdout)["found"] if str(process.pid) in one["name"]]
    process.send_signal(signal.SIGKILL)
    process.wait()
    shown = evalgate("clean", "--dry-run", cwd=repo.path, env=engine)
    assert "would be removed" in shown.stdout
    assert containers_of(process.pid)
    done = evalgate("clean", cwd=repo.path, env=engine)
    assert done.returncode == 0, done.stderr
    assert containers_of(process.pid) == []
    scripted.answer = answer

"""`evalgate run --record`: two at once, full disks and kills lose nothing that was paid for."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

TWO_TURNS = """
import json, os, urllib.request

def ask(text):
    body = json.dumps({"model": "scripted-1", "messages": [{"role": "user", "content": text}]})
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

code = ask("now double, by " + ask("plan for double"))
open("double.py", "w").write(code.split("```python\\n")[1].split("```")[0])
"""


def wait_for(condition, running) -> None:
    """Wait while a process works on it."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)


@pytest.fixture
def held(scripted):
    """Let the model wait with each answer until this is set."""
    gate, plain = threading.Event(), scripted.answer

    def answer(request):
        gate.wait(60)
        return plain(request)

    scripted.answer = answer
    yield gate
    gate.set()


def latest(repo) -> Path:
    """Return the newest run folder."""
    return max((repo.path / ".evalgate" / "runs").iterdir())


def tapes(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def fill(disk: Path) -> None:
    """Take all the room that is left."""
    try:
        with (disk / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass


def test_two_at_once_do_not_overwrite_one_another(repo, scripted, evalgate, held, start):
    """The second is refused before anything is paid; what the first recorded is published."""
    env = {"SCRIPTED_URL": scripted.url}
    with start("run", "--record", cwd=repo.path, env=env) as first:
        wait_for(lambda: scripted.requests, first)
        second = evalgate("run", "--record", "--again", cwd=repo.path, env=env)
        held.set()
        _, errors = first.communicate(timeout=120)
    assert second.returncode == 2
    assert f"is being recorded by process {first.pid}" in second.stderr
    assert "hint: " in second.stderr
    assert first.returncode == 0, errors
    assert len(scripted.requests) == 6
    run = latest(repo)
    kept = {path.read_bytes() for path in run.rglob("cassette.json")}
    (folder,) = (repo.path / "cassettes").iterdir()
    assert set(tapes(folder).values()) == kept
    assert len(kept) == 6
    assert "recorded already" in evalgate("run", "--record", cwd=repo.path, env=env).stderr


def test_a_killed_recording_keeps_nobody_out(repo, scripted, evalgate, held, start):
    """Its lock died with it."""
    with start("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url}) as first:
        wait_for(lambda: scripted.requests, first)
        first.kill()
    held.set()
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr


def test_two_harnesses_recorded_at_once_both_stay(repo, scripted, evalgate, held, start):
    """What is published while another one is recorded is no edit that was tried and left."""
    env = {"SCRIPTED_URL": scripted.url}
    with start("run", "--record", "-j", "1", cwd=repo.path, env=env) as first:
        wait_for(lambda: scripted.requests, first)
        repo.write("agent/prompts/rewrite.md", "Another prompt.\n")
        with start("run", "--record", "-j", "1", cwd=repo.path, env=env) as second:
            wait_for(lambda: len(scripted.requests) > 1, second)
            held.set()
            for one in (first, second):
                _, errors = one.communicate(timeout=120)
                assert one.returncode == 0, errors
    folders = list((repo.path / "cassettes").iterdir())
    assert len(folders) == 2
    assert evalgate("replay", cwd=repo.path, env=env).returncode == 0


def test_a_set_that_came_meanwhile_stays_and_the_run_can_be_published(
    repo, scripted, evalgate, held, start
):
    """As by a merge in another terminal; --again puts the run there, and asks no model."""
    env = {"SCRIPTED_URL": scripted.url}
    short = json.loads(evalgate("--json", "fingerprint", cwd=repo.path).stdout)["fingerprint"][:12]
    with start("run", "--record", cwd=repo.path, env=env) as first:
        wait_for(lambda: scripted.requests, first)
        repo.write(f"cassettes/{short}/other/1.json", "{}")
        held.set()
        _, errors = first.communicate(timeout=120)
    run = latest(repo)
    assert first.returncode == 2, errors
    assert f"{short} has changed while this recording was made" in errors
    assert f"kept in {run.name}" in errors
    assert tapes(repo.path / "cassettes") == {f"{short}/other/1.json": b"{}"}
    done = evalgate("run", "--record", "--again", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 trials exist already" in done.stderr
    assert len(scripted.requests) == 6
    assert latest(repo) == run
    assert len(tapes(repo.path / "cassettes" / short)) == 6


def test_a_full_shelf_keeps_the_old_set_and_the_run(repo, scripted, evalgate, small_disk):
    """What happened is said; with room the same command publishes, and asks no model."""
    env = {"SCRIPTED_URL": scripted.url}
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config + f'\n[cassettes]\npath = "{small_disk}/shelf"\n')
    repo.commit("Recordings elsewhere")
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    before = tapes(small_disk)
    fill(small_disk)
    again = ("run", "--record", "--again")
    done = evalgate(*again, cwd=repo.path, env=env)
    assert done.returncode == 9, done.stderr
    assert "error: the recordings can not be put on the shelf: " in done.stderr
    assert "No space left" in done.stderr
    assert f"hint: they are kept in {latest(repo).name}" in done.stderr
    (small_disk / "filler").unlink()
    assert tapes(small_disk) == before
    scripted.requests.clear()
    done = evalgate(*again, cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert not scripted.requests
    after = tapes(small_disk)
    assert (after.keys(), after == before) == (before.keys(), False)


def two_turns(repo) -> None:
    """Let the agent ask twice."""
    repo.write("agent/agent.py", TWO_TURNS)
    config = (repo.path / "evalgate.toml").read_text()
    start_, end = config.index("command = ["), config.index("]\n", config.index("command = [")) + 2
    command = 'command = ["python3", "{harness_dir}/agent/agent.py"]\n'
    repo.write("evalgate.toml", config[:start_] + command + config[end:])
    repo.commit("An agent of two turns")


def test_a_disk_that_fills_up_ends_the_run_in_words_and_loses_no_answer(
    repo, scripted, evalgate, small_disk
):
    """No thread dies unseen: the journal is named, and what it had is played the next time."""
    two_turns(repo)
    (repo.path / ".evalgate").symlink_to(small_disk)
    plain = scripted.answer

    def answer(request):
        if "plan" in request["messages"][-1]["content"].split()[0]:
            return 200, "doubling"
        if not (small_disk / "filler").exists():
            fill(small_disk)
        _, text = plain({"messages": [{"content": ""}, *request["messages"]]})
        return 200, text.replace("def", f"# {'long ' * 4000}\ndef")

    scripted.answer = answer
    command = ("run", "double", "-k", "1")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate(*command, cwd=repo.path, env=env)
    assert done.returncode == 9, done.stderr
    assert "No space left" in done.stderr
    assert "same command goes on" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception in thread" not in done.stderr
    assert done.stderr.count("error: ") == 1
    (small_disk / "filler").write_bytes(b"")
    done = evalgate(*command, cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    texts = [request["messages"][-1]["content"] for request in scripted.requests]
    assert texts.count("plan for double") == 1


def test_a_trial_that_is_not_on_disk_keeps_its_journal(repo, scripted, evalgate, held, start):
    """It was sealed, and its line could not be written: nothing is asked again for it."""
    env = {"SCRIPTED_URL": scripted.url}
    with start("run", "double", "-k", "1", cwd=repo.path, env=env) as running:
        wait_for(lambda: scripted.requests, running)
        line = latest(repo) / "trials.jsonl"
        line.symlink_to("/dev/full")
        held.set()
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 9, errors
    assert "0 of 1 trials are kept" in errors
    assert list(latest(repo).rglob("cassette.json"))
    line.unlink()
    done = evalgate("run", "double", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "1/1 passed" in done.stdout
    assert len(scripted.requests) == 1
    assert not list(latest(repo).rglob("*.journal*"))


def test_an_edited_journal_is_refused_by_name(repo, scripted, evalgate, start):
    """A killed run left it; what somebody wrote into it is never taken for the model's word."""
    two_turns(repo)
    gate = threading.Event()

    def answer(request):
        if "plan" not in request["messages"][-1]["content"].split()[0]:
            gate.wait(60)
        return 200, "doubling"

    scripted.answer = answer
    command = ("run", "double", "-k", "1")

    def left() -> list[Path]:
        return list(repo.path.rglob("cassette.journal-new"))

    with start(*command, cwd=repo.path, env={"SCRIPTED_URL": scripted.url}) as running:
        wait_for(lambda: left() and left()[0].read_bytes().count(b"\n") == 2, running)
        running.kill()
    gate.set()
    (journal,) = left()
    journal.write_bytes(journal.read_bytes().replace(b"doubling", b"tripling"))
    done = evalgate(*command, cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2, done.stderr
    assert f"{journal.name} is damaged" in done.stderr
    assert "hint: delete the file" in done.stderr
    journal.unlink()
    assert evalgate(*command, cwd=repo.path, env={"SCRIPTED_URL": scripted.url}).returncode != 2


def test_one_side_of_two_recordings_of_one_harness_is_a_set(recorded, scripted, evalgate):
    """Both branches recorded it: git stops, one side is taken whole, and it replays."""
    env = {"SCRIPTED_URL": scripted.url}
    (folder,) = (recorded.path / "cassettes").iterdir()
    name = f"cassettes/{folder.name}"
    recorded.git("checkout", "-qb", "theirs")
    plain = scripted.answer
    scripted.answer = lambda request: (200, plain(request)[1] + "\nDone.")
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config.replace("trials = 3", "trials = 4"))
    done = evalgate("run", "--record", "--again", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    recorded.commit("Recorded again, there")
    recorded.git("checkout", "-q", "main")
    done = evalgate("run", "--record", "--again", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    recorded.commit("Recorded again, here")
    for side, trials in (("HEAD", 6), ("MERGE_HEAD", 8)):
        merging = subprocess.run(
            ["git", "merge", "theirs"],
            cwd=recorded.path,
            env=recorded.environment,
            capture_output=True,
            check=False,
        )
        assert merging.returncode == 1
        recorded.git("restore", f"--source={side}", "--staged", "--worktree", name)
        assert len(tapes(folder)) == trials
        done = evalgate("replay", cwd=recorded.path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"all {trials} recorded trials" in done.stdout
        recorded.git("merge", "--abort")

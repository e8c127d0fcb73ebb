"""`evalgate run` with a scripted model: what is measured, kept, resumed and refused."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest


def runs(repo) -> list[Path]:
    return sorted((repo.path / ".evalgate" / "runs").iterdir())


def trials(repo) -> list[dict]:
    lines = (runs(repo)[-1] / "trials.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_measures_every_task_and_keeps_everything(repo, scripted, evalgate):
    """Two tasks, three trials each: outcomes, signals and artifacts are on disk."""
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    assert "6/6 passed (100 %)" in done.stdout
    found = trials(repo)
    assert len(found) == 6
    assert {trial["outcome"] for trial in found} == {"passed"}
    promises = found[0]["conditions"]["promises"]
    assert promises.keys() == {"own_network", "own_processes", "hides_host_files", "limits_memory"}
    signals = found[0]["signals"]
    assert (signals["input_tokens"], signals["output_tokens"], signals["turns"]) == (100, 20, 1)
    assert signals["cost_usd"] is None, "an unknown price is an unknown cost"
    artifacts = runs(repo)[-1] / "artifacts" / found[0]["artifacts"]
    assert {path.name for path in artifacts.iterdir()} == {
        "cassette.json",
        "diff.patch",
        "grade.txt",
        "log.txt",
        "trajectory.json",
    }
    assert "+    return n * 2" in (artifacts / "diff.patch").read_text()


def test_the_harness_of_the_named_revision_runs(repo, scripted, evalgate):
    """A marker in the prompt shows on the wire which revision ran, whatever the work tree holds."""
    prompt = repo.path / "agent/prompts/rewrite.md"
    prompt.write_text("MARK-OLD\n")
    old = repo.commit("old")
    prompt.write_text("MARK-NEW\n")
    repo.commit("new")
    prompt.write_text("MARK-DIRTY\n")
    env = {"SCRIPTED_URL": scripted.url}
    for rev, mark in ((old, "OLD"), ("HEAD", "NEW"), ("WORKTREE", "DIRTY")):
        scripted.requests.clear()
        done = evalgate("run", "-k", "1", "double", "--rev", rev, cwd=repo.path, env=env)
        assert done.returncode == 0, done.stderr
        assert [r["messages"][0]["content"].strip() for r in scripted.requests] == [f"MARK-{mark}"]


def test_a_killed_run_goes_on_where_it_stopped(repo, scripted, evalgate, start):
    """After SIGKILL the same command makes only the trials that are missing."""
    env = {"SCRIPTED_URL": scripted.url}
    answer = stall_after(scripted, 2)
    process = start("run", "-j", "1", cwd=repo.path, env=env)
    wait_for(lambda: len(scripted.requests) > 2)
    process.kill()
    process.communicate()
    assert len(trials(repo)) == 2
    scripted.answer = answer
    scripted.requests.clear()
    done = evalgate("run", "-j", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "2 of 6 trials exist already" in done.stderr
    assert len(scripted.requests) == 4
    assert len(runs(repo)) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_with_130_and_can_be_shown_and_resumed(
    repo, scripted, evalgate, number, start
):
    """Ctrl-C and SIGTERM keep finished trials and leave no agent process behind."""
    env = {"SCRIPTED_URL": scripted.url}
    answer = stall_after(scripted, 1)
    process = start("run", "-j", "1", cwd=repo.path, env=env)
    wait_for(lambda: len(scripted.requests) > 1)
    began = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert time.monotonic() - began < 10
    assert "1 of 6 trials are kept" in errors
    assert "hint: the same command goes on" in errors
    assert "Traceback" not in errors
    assert not agents_alive(repo)
    shown = evalgate("show", "latest", cwd=repo.path)
    assert shown.returncode == 0
    assert "1/1" in shown.stdout
    scripted.answer = answer
    assert evalgate("run", cwd=repo.path, env=env).returncode == 0
    assert len(trials(repo)) == 6


def test_two_runs_at_once_do_not_share_a_folder(repo, scripted, start):
    """The second of two equal runs gets a folder of its own, and both finish."""
    env = {"SCRIPTED_URL": scripted.url}
    both = [start("run", "-k", "1", cwd=repo.path, env=env) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert len(runs(repo)) == 2


def test_a_finished_run_is_not_resumed(repo, scripted, evalgate):
    """Asking again after a finished run makes fresh trials."""
    env = {"SCRIPTED_URL": scripted.url}
    for _ in range(2):
        assert evalgate("run", "-k", "1", cwd=repo.path, env=env).returncode == 0
    assert len(runs(repo)) == 2
    assert len(scripted.requests) == 4


def test_the_provider_key_stays_in_the_gateway(repo, scripted, evalgate):
    """The key reaches the provider, and neither agent, log, cassette nor run folder."""
    key = "sk-planted-0123456789abcdef"
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config.replace("[agent]", 'key_env = "MY_KEY"\n[agent]'))
    leaky = (
        (repo.path / "agent/agent.py")
        .read_text()
        .replace(
            'if __name__ == "__main__":',
            'import os\nprint(sorted(os.environ.items()))\nif __name__ == "__main__":',
        )
    )
    repo.write("agent/agent.py", leaky)
    scripted.answer = lambda _: (200, f"```python\nKEY = '{key}'\n```")
    env = {"SCRIPTED_URL": scripted.url, "MY_KEY": key}
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert scripted.headers[0]["authorization"] == f"Bearer {key}"
    assert key not in done.stdout + done.stderr
    kept = [path for path in repo.path.rglob("*") if path.is_file()]
    assert any(path.name == "cassette.json" for path in kept)
    assert not [path for path in kept if key.encode() in path.read_bytes()]


def test_a_missing_key_is_said_before_anything_runs(repo, scripted, evalgate):
    """The variable is named; no trial is made."""
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config.replace("[agent]", 'key_env = "MY_KEY"\n[agent]'))
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2
    assert "MY_KEY" in done.stderr
    assert not scripted.requests


def test_a_failing_provider_is_errored_never_failed(repo, scripted, evalgate):
    """429 and 500 are retried once, then the trial is errored and the run not measured (4)."""
    scripted.answer = lambda _: (500, "overloaded")
    done = evalgate("run", "-k", "1", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 4
    assert {trial["outcome"] for trial in trials(repo)} == {"errored"}
    assert len(scripted.requests) == 4, "each of two calls is retried once"


def test_one_retry_saves_a_trial(repo, scripted, evalgate):
    """A single 429 costs nothing but time."""
    answer = scripted.answer
    scripted.answer = lambda r: (429, "slow down") if len(scripted.requests) == 1 else answer(r)
    done = evalgate("run", "-k", "1", "double", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0
    assert trials(repo)[0]["outcome"] == "passed"


def test_a_budget_stops_a_run_and_a_larger_one_goes_on(repo, scripted, evalgate):
    """Exit 8, finished trials kept, resumable."""
    config = (repo.path / "evalgate.toml").read_text()
    price = "price = { input = 10.0, output = 0.0 }\n[agent]"
    repo.write("evalgate.toml", config.replace("[agent]", price))
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "-j", "1", "--usd", "0.0025", cwd=repo.path, env=env)
    assert done.returncode == 8, done.stderr
    assert len(trials(repo)) == 3
    shown = evalgate("show", "latest", cwd=repo.path).stdout
    assert "not finished: 3 of 6 trials made (the budget of $0.0025 is" in shown, shown
    done = evalgate("run", "-j", "1", "--usd", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 6


def test_a_budget_without_a_price_is_refused_before_the_first_call(repo, scripted, evalgate):
    """An unknown price can not hold a budget."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--usd", "1", cwd=repo.path, env=env)
    assert done.returncode == 2
    assert "price is unknown" in done.stderr
    assert not scripted.requests


def test_what_was_not_measured_is_not_recorded(recorded, scripted, evalgate):
    """A provider that is down neither makes recordings nor retires the old ones."""
    before = sorted((recorded.path / "cassettes").rglob("*.json"))
    recorded.write("agent/prompts/rewrite.md", "Another.\n")
    scripted.answer = lambda _: (401, "no such key")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=recorded.path, env=env)
    assert done.returncode == 4
    assert "not recorded" in done.stderr
    assert sorted((recorded.path / "cassettes").rglob("*.json")) == before


def test_a_recording_takes_all_trials(repo, scripted, evalgate):
    """Fewer trials than the suite asks for would not be judged: refused before they are paid."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 2
    assert not scripted.requests


def test_an_odd_file_name_is_kept(repo, scripted, evalgate):
    """A name that is not UTF-8 neither ends the run nor gets lost in the recording."""
    repo.write("agent/agent.py", "open(b'n\\xe9.txt', 'w').close()\n")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert {trial["outcome"] for trial in trials(repo)} == {"failed"}
    assert evalgate("regrade", "latest", cwd=repo.path).returncode == 0


AGENTS = {
    "crash before the first call": (
        "import sys; print('boom', file=sys.stderr); sys.exit(3)",
        "errored",
        "boom",
    ),
    "does nothing": ("pass", "failed", "hidden tests"),
    "non-UTF-8 output": (
        "import sys; sys.stdout.buffer.write(b'\\xff\\x9b\\0')",
        "failed",
        "hidden tests",
    ),
    "50 MB of output": (
        "import sys\nfor _ in range(50): sys.stdout.write('x' * 1_000_000)",
        "failed",
        "hidden",
    ),
    "hangs": ("import time; time.sleep(600)", "failed", "time limit"),
    "hangs with children that ignore TERM": (
        "import subprocess, time\n"
        "subprocess.Popen(['setsid', 'sh', '-c', 'trap \"\" TERM; sleep 600'])\ntime.sleep(600)",
        "failed",
        "time limit",
    ),
    "exits 1 after a right answer": (
        "import pathlib, sys\n"
        "for n, f in (('double', 2), ('triple', 3)):\n"
        "    p = pathlib.Path(f'{n}.py')\n"
        "    if p.exists(): p.write_text(f'def {n}(x):\\n    return x * {f}\\n')\n",
        "passed",
        "",
    ),
    "deletes everything": (
        "import os\nfor name in os.listdir():\n    os.path.isfile(name) and os.unlink(name)",
        "failed",
        "hidden tests",
    ),
}


@pytest.mark.parametrize("sandbox", ["bwrap", "process"])
@pytest.mark.parametrize("kind", AGENTS)
def test_odd_agents(repo, scripted, evalgate, kind, sandbox):
    """Each odd agent gives the outcome that is right for it, and no traceback."""
    if sandbox == "bwrap" and not _bwrap():
        pytest.skip("bwrap can not run here")
    program, outcome, words = AGENTS[kind]
    repo.write("agent/agent.py", program)
    task = (repo.path / "tasks/double/task.toml").read_text()
    repo.write("tasks/double/task.toml", task.replace("timeout_sec = 30", "timeout_sec = 1.5"))
    began = time.monotonic()
    done = evalgate(
        "run",
        "-k",
        "1",
        "double",
        "--sandbox",
        sandbox,
        cwd=repo.path,
        env={"SCRIPTED_URL": scripted.url},
    )
    assert time.monotonic() - began < 60
    (trial,) = trials(repo)
    assert (trial["outcome"], words in trial["reason"]) == (outcome, True), trial["reason"]
    assert done.returncode == (4 if outcome == "errored" else 0)
    assert "Traceback" not in done.stderr
    assert not agents_alive(repo)


def test_an_agent_that_is_not_there_is_exit_9(repo, scripted, evalgate):
    """The program is named."""
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config.replace('"python3"', '"no-such-agent"'))
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 9
    assert "no-such-agent" in done.stderr


def test_an_agent_without_its_interpreter_is_told_so(repo, scripted, evalgate):
    """The program is there: that it can not be found would send people to the wrong place."""
    config = (repo.path / "evalgate.toml").read_text()
    begin, end = config.index("command = ["), config.index("]\n", config.index("command = [")) + 2
    command = 'command = ["{harness_dir}/agent/agent.py"]\n'
    repo.write("evalgate.toml", config[:begin] + command + config[end:])
    repo.write("agent/agent.py", "#!/no/such/python\n")
    (repo.path / "agent/agent.py").chmod(0o755)
    done = evalgate(
        "run", "--sandbox", "process", cwd=repo.path, env={"SCRIPTED_URL": scripted.url}
    )
    assert done.returncode == 9
    assert "its interpreter /no/such/python is missing" in done.stderr


def test_a_dry_run_says_what_it_would_do_and_does_nothing(repo, scripted, evalgate):
    """Trials, calls and cost are estimated; no run folder appears."""
    done = evalgate("run", "--dry-run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0
    unknown = "calls unknown, cost unknown (models.main.price is not set)"
    assert f"estimate: 6 trials of 2 tasks, {unknown}" in done.stdout
    assert not (repo.path / ".evalgate" / "runs").exists()


def stall_after(scripted, requests: int):
    """Let the model hang after some requests; return how it answered before."""
    answer = scripted.answer

    def slow(request):
        if len(scripted.requests) > requests:
            time.sleep(30)
        return answer(request)

    scripted.answer = slow
    return answer


def wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def agents_alive(repo) -> list[str]:
    """Processes that this test's agent is or started."""
    mark = f"TEST_MARK={repo.path.parent}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0"):
            found.append(path.parent.name)
    return found


def _bwrap() -> bool:
    from evalgate.sandboxes.bwrap import BwrapProvider

    return BwrapProvider().unavailable() is None

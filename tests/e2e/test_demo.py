"""`evalgate demo`, and the recordings of this repository's own harness."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evalgate as package
from evalgate.commands.demo import build

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).parent / "evalgate"


def numbers(folder: Path) -> dict[str, list[str]]:
    """What the committed baseline says of each task, in order of n."""
    import tomllib

    (path,) = folder.glob("*.toml")
    tasks = tomllib.loads(path.read_text())["tasks"]
    return {name: [row["outcome"] for row in task["trials"]] for name, task in tasks.items()}


def test_the_demo_judges_a_prompt_edit_and_says_what_to_type_next(evalgate, tmp_path):
    """The verdict, then four lines; nothing is left in the folder it was called from."""
    done = evalgate("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page, _, story = done.stdout.partition("What happened: ")
    assert page.startswith("<!-- evalgate:v1 -->\n> [!")
    assert "| pass rate |" in page
    assert "Evidence: **regraded**" in page
    assert len(story.strip().splitlines()) == 4
    assert not list(tmp_path.iterdir())


def test_the_demo_needs_no_network_and_no_isolation(tmp_path, git_environment):
    """In a namespace with loopback down, and with no bwrap on PATH."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are forbidden here")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "sh", "env", "cp", "mkdir", "cat", "prlimit", "setsid"):
        found = subprocess.run(["which", name], capture_output=True, text=True).stdout.strip()
        if found:
            (tools / name).symlink_to(found)
    environment = {**git_environment, "PATH": str(tools), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["/usr/bin/unshare", "-rn", str(SCRIPT), "demo"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "NO ISOLATION" in done.stderr
    assert "graded here in the sandbox process" in done.stdout


def test_the_demo_has_the_harness_of_this_repository(evalgate, tmp_path):
    """One fingerprint: the demo's recordings are those that are committed here."""
    folder = tmp_path / "demo"
    folder.mkdir()
    build(folder)
    demo = evalgate("--json", "fingerprint", "HEAD~1", cwd=folder).stdout
    ours = evalgate("--json", "fingerprint", cwd=ROOT).stdout
    assert json.loads(demo)["fingerprint"] == json.loads(ours)["fingerprint"]


def test_every_recorded_trial_of_this_repository_is_reproduced(evalgate):
    """All twelve tasks, and the committed baseline says the same."""
    done = evalgate("replay", cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "reproduced: all 60 recorded trials" in done.stdout
    run = max((ROOT / ".evalgate/runs").iterdir())
    lines = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    lines.sort(key=lambda trial: (trial["task"], trial["n"]))
    found: dict[str, list[str]] = {}
    for trial in lines:
        found.setdefault(trial["task"], []).append(trial["outcome"])
    assert found == numbers(ROOT / "baselines")


def test_the_agent_sees_neither_evalgate_nor_a_solution(tmp_path):
    """The package carries the demo's hidden tests: in bwrap it is not there at all."""
    from evalgate.protocols import Stage
    from evalgate.sandboxes.bwrap import BwrapProvider

    provider = BwrapProvider()
    if provider.unavailable() is not None:
        pytest.skip("bwrap can not run here")
    import threading

    with provider.open_sandbox() as sandbox:
        folder = Path(package.__file__).parent / "demo"
        words = f"ls '{folder}' '{ROOT}'; find / -name 'test_add_subtracts*' 2>/dev/null"
        stage = Stage(trees={}, argv=["sh", "-c", words], timeout=30)
        result = sandbox.run(stage, threading.Event())
    assert b"test_add_subtracts" not in result.log
    assert b"tasks" not in result.log
    assert os.fsencode(folder) not in result.log.replace(
        b"cannot access '" + os.fsencode(folder), b""
    )

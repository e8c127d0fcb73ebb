"""Images that a project or a task asks for, end to end in real containers."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

DOCKERFILE = """ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}
COPY tool /usr/local/bin/tool
ENV TOOL_HOME=/opt/tool
"""
OWN = '[harness.parts]\nsandbox = ["sandbox/**"]\n'


@pytest.fixture
def boxed(repo):
    """A project whose image holds a tool of its own, and whose one task is graded by it."""
    text = (repo.path / "evalgate.toml").read_text()
    text = text.replace("[harness.parts]\n", OWN)
    text += '[sandbox]\nuse = "docker"\ndockerfile = "sandbox/Dockerfile"\nmemory_mb = 300\n'
    repo.write("evalgate.toml", text)
    repo.write("sandbox/Dockerfile", DOCKERFILE)
    repo.write("sandbox/tool", '#!/bin/sh\necho "first $TOOL_HOME"\n')
    (repo.path / "sandbox/tool").chmod(0o755)
    repo.git("rm", "-rq", "tasks/triple")
    repo.write("tasks/double/tests/test.sh", '#!/bin/sh\n[ "$(tool)" = "first /opt/tool" ]\n')
    toml = (repo.path / "tasks/double/task.toml").read_text()
    toml = toml.replace('expected_tests = ["test_double.T.test_it"]\n', "")
    repo.write("tasks/double/task.toml", toml)
    repo.commit("An image of our own")
    return repo


def trials(repo) -> list[dict[str, Any]]:
    """Return the trials of the newest run."""
    runs = sorted((repo.path / ".evalgate" / "runs").iterdir(), key=lambda one: one.stat().st_mtime)
    return [json.loads(line) for line in (runs[-1] / "trials.jsonl").read_text().splitlines()]


def test_the_image_of_a_project_comes_from_its_commit(boxed, scripted, evalgate, engine) -> None:
    """Another work tree does not change it, and what it is made of stands with each trial."""
    env = {**engine, "SCRIPTED_URL": scripted.url}
    boxed.write("sandbox/tool", "#!/bin/sh\necho second\n")
    done = evalgate("run", "-k", "1", "--rev", "HEAD", cwd=boxed.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "making the image evalgate-sandbox:" in done.stderr
    (committed,) = trials(boxed)
    assert committed["outcome"] == "passed", committed["reason"]
    done = evalgate("run", "-k", "1", cwd=boxed.path, env=env)
    assert done.returncode == 0, done.stderr
    (edited,) = trials(boxed)
    assert edited["outcome"] == "failed"
    one, other = (trial["conditions"]["images"]["sandbox"] for trial in (committed, edited))
    assert one != other
    for digest in (one, other):
        subprocess.run(["docker", "rmi", f"evalgate-sandbox:{digest}"], check=False)


def test_programs_of_the_workspace_steer_nothing_of_ours(boxed, scripted, evalgate, engine) -> None:
    """An image may look for programs in the workspace first; what lays and reads back does not."""
    boxed.write("sandbox/Dockerfile", DOCKERFILE + "ENV PATH=/evalgate/repo/bin:$PATH\n")
    for name in ("sh", "date", "find", "head", "rm", "sed", "sort", "tar", "timeout", "uniq"):
        place = f"tasks/double/environment/workspace/bin/{name}"
        boxed.write(place, "#!/bin/cat\n")
        (boxed.path / place).chmod(0o755)
    boxed.write("sandbox/tool", '#!/bin/sh\nexec /usr/bin/printf "first %s\\n" "$TOOL_HOME"\n')
    boxed.write("tasks/double/tests/test.sh", '#!/bin/sh\n[ "$(tool)" = "first /opt/tool" ]\n')
    boxed.commit("Programs of its own")
    done = evalgate("run", "-k", "1", cwd=boxed.path, env={**engine, "SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    (trial,) = trials(boxed)
    assert trial["signals"]["files_touched"] == 1, trial
    subprocess.run(
        ["docker", "rmi", f"evalgate-sandbox:{trial['conditions']['images']['sandbox']}"],
        check=False,
    )


@pytest.mark.parametrize("kept", ['sandbox = ["sandbox/tool"]', 'sandbox = ["sandbox/Dockerfile"]'])
def test_what_an_image_is_made_of_must_be_a_part(boxed, evalgate, kept: str) -> None:
    """Or it would change and no fingerprint with it; the glob to add is told."""
    text = (boxed.path / "evalgate.toml").read_text()
    boxed.write("evalgate.toml", text.replace('sandbox = ["sandbox/**"]', kept))
    done = evalgate("run", "--dry-run", cwd=boxed.path)
    assert done.returncode == 2, done.stderr
    assert "is in no part" in done.stderr
    assert 'sandbox = ["sandbox/**"]' in done.stderr


def test_a_dockerfile_that_is_not_there_is_told_as_that(boxed, evalgate) -> None:
    """No glob is to be added for it."""
    boxed.git("mv", "sandbox/Dockerfile", "sandbox/Containerfile")
    done = evalgate("run", "--dry-run", cwd=boxed.path)
    assert done.returncode == 2, done.stderr
    assert "sandbox.dockerfile: work tree has no 'sandbox/Dockerfile'" in done.stderr
    assert "is in no part" not in done.stderr


def test_a_broken_image_is_no_reason_to_take_another_sandbox(
    boxed, scripted, evalgate, engine
) -> None:
    """What is measured anew needs the project's own programs."""
    text = (boxed.path / "evalgate.toml").read_text().replace('use = "docker"', 'use = "auto"')
    boxed.write("evalgate.toml", text)
    boxed.write("sandbox/Dockerfile", f"{DOCKERFILE}RUN no-such-program\n")
    done = evalgate("run", cwd=boxed.path, env={**engine, "SCRIPTED_URL": scripted.url})
    assert done.returncode == 9, done.stderr
    assert "the image of sandbox/Dockerfile can not be built" in done.stderr
    assert "no-such-program" in done.stderr


HARBOR = """ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}
WORKDIR /app
COPY double.py /app/
"""
HARBOR_TEST = """#!/bin/bash
set -o pipefail
cd /app && source /tests/wanted.sh
if [[ "$(python3 -c 'import double; print(double.double(2))')" == "$wanted" ]]
then echo '{"reward": 1}'; else echo '{"reward": 0}'; fi >/logs/verifier/reward.json
"""


@pytest.fixture
def harbor(repo):
    """A project whose one task is a folder of Harbor's, with its files in an image."""
    repo.git("rm", "-rq", "tasks")
    task = "tasks/double"
    repo.write(f"{task}/task.toml", 'version = "1.0"\n[environment]\nmemory_mb = 512\n')
    repo.write(f"{task}/instruction.md", "In `/app/double.py`, double(2) should be 4.\n")
    repo.write(f"{task}/environment/Dockerfile", HARBOR)
    repo.write(f"{task}/environment/double.py", "def double(n):\n    return n + 40\n")
    repo.write(f"{task}/tests/test.sh", HARBOR_TEST)
    repo.write(f"{task}/tests/wanted.sh", "wanted=4\n")
    text = (repo.path / "evalgate.toml").read_text().replace("trials = 3", "trials = 1")
    repo.write("evalgate.toml", text)
    repo.commit("A task of Harbor's")
    return repo


def test_a_harbor_folder_is_recorded_replayed_and_regraded(
    harbor, scripted, evalgate, engine
) -> None:
    """The agent finds the image's files, and its patch is one against them."""
    done = evalgate(
        "run", "--record", cwd=harbor.path, env={**engine, "SCRIPTED_URL": scripted.url}
    )
    assert done.returncode == 0, done.stderr
    (trial,) = trials(harbor)
    assert trial["outcome"] == "passed", trial
    assert "-    return n + 40\n+    return n * 2\n" in trial["patch"]
    assert set(trial["conditions"]["images"]) == {"task double"}
    for command in ("replay", "regrade"):
        done = evalgate(command, cwd=harbor.path, env=engine)
        assert done.returncode == 0, done.stderr
        assert "1/1" in done.stdout
        done = evalgate(command, cwd=harbor.path)
        assert done.returncode == 9, done.stderr
        assert "the task double needs the image of its environment/Dockerfile" in done.stderr


def test_without_containers_a_harbor_folder_is_refused(harbor, scripted, evalgate) -> None:
    """By name, before any model is asked."""
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--sandbox", "process", cwd=harbor.path, env=env)
    assert done.returncode == 9, done.stderr
    assert "the task double needs the image" in done.stderr
    assert "'process' makes no containers" in done.stderr
    assert scripted.requests == []


def test_the_network_of_a_set_up_needs_two_words(repo, scripted, evalgate) -> None:
    """The task's and the configuration's: both are named."""
    toml = (repo.path / "tasks/double/task.toml").read_text()
    more = '\n[metadata.evalgate.setup]\ncommands = ["true"]\nnetwork = true\n'
    repo.write("tasks/double/task.toml", toml + more)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--sandbox", "process", cwd=repo.path, env=env)
    assert done.returncode == 2, done.stderr
    assert "the set-up of the task double asks for the network: setup.network" in done.stderr
    assert "[sandbox] setup_network = true" in done.stderr

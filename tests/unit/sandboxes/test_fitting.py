"""Tasks that bring an image, in real containers."""

from __future__ import annotations

import os
import threading

import pytest

from evalgate.core.claim import Claim, claim_of
from evalgate.core.files import File, Tree
from evalgate.core.task import Task
from evalgate.core.trial import Outcome
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Stage, StageResult, StageStatus
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.fitting import Fit, fit
from evalgate.sandboxes.process import ProcessProvider
from evalgate.tasks.harbor import load_harbor_task
from tests.grading import grade_by

DOCKERFILE = """ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}
WORKDIR /app
COPY app.py old.py /app/
RUN mkdir node_modules && echo installed >node_modules/it
ENV GREETING=hello
"""
#: As Harbor's own tasks are: absolute paths, bash, a reward file.
TEST_SH = """#!/bin/bash
set -o pipefail
cd /app
if [[ "$(python3 app.py)" == right ]] && [[ ! -e old.py ]] && grep -q installed node_modules/it
then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
SOLVE_SH = "#!/bin/bash\ncp /solution/app.py /app/app.py\nrm /app/old.py\n"
TOML = """version = "1.0"
[metadata]
author_name = "somebody"
difficulty = "easy"
tags = ["files"]
[verifier]
timeout_sec = 30.0
[agent]
timeout_sec = 30.0
[environment]
build_timeout_sec = 600.0
cpus = 1
memory_mb = 512
storage_mb = 10240
"""


@pytest.fixture
def word() -> str:
    """Return a word that makes an image this test's own."""
    return os.urandom(6).hex()


def folder(word: str, **more: str | None) -> Task:
    """Return a task folder of Harbor's, with files replaced or left out."""
    texts: dict[str, str | None] = {
        "task.toml": TOML,
        "instruction.md": "Make it right in /app, and remove old.py.\n",
        "environment/Dockerfile": f"{DOCKERFILE}ENV WORD={word}\n",
        "environment/app.py": "print('wrong')\n",
        "environment/old.py": "",
        "tests/test.sh": TEST_SH,
        "solution/solve.sh": SOLVE_SH,
        "solution/app.py": "print('right')\n",
    }
    texts.update({name.replace("__", "/"): text for name, text in more.items()})
    files = {path: File(data=text.encode()) for path, text in texts.items() if text is not None}
    return load_harbor_task("tasks/harbor", files)


def ran(it: Fit, script: str, trees: Tree | None = None) -> StageResult:
    """Run a script in a task's sandbox."""
    stage = Stage(
        trees={"repo": it.task.workspace if trees is None else trees},
        argv=["bash", "-c", script],
        timeout=20,
    )
    with it.provider.open_sandbox() as sandbox:
        return sandbox.run(stage, threading.Event())


def outcome(it: Fit, claim: Claim) -> Outcome:
    """Grade a claim."""
    graded = grade_by(it.provider, it.task, claim)
    return graded.checks[0].outcome


def fitted(task: Task) -> Fit:
    """Fit a task to Docker."""
    return fit(docker(), task, setup_network=False)


def test_a_harbor_folder_runs_as_it_is(engine: Engine, word: str) -> None:
    """Its image, the files in it, its absolute paths, its reward, its solution."""
    it = fitted(folder(word))
    assert set(it.task.workspace) == {"app.py", "old.py"}
    assert it.provider.images == {"task harbor": it.provider.images["task harbor"]}
    script = 'cd /app; echo "$GREETING $(cat node_modules/it) $PWD"; ls /tests /logs'
    assert b"hello installed /app" in ran(it, script).log
    right = ran(it, "echo \"print('right')\" >/app/app.py; rm /app/old.py")
    claim = claim_of(it.task.workspace, right.trees["repo"])
    assert claim.touched == ("app.py", "old.py")
    assert outcome(it, claim) is Outcome.PASSED
    wrong = Claim(changed=claim.changed)
    assert outcome(it, wrong) is Outcome.FAILED
    assert outcome(it, Claim()) is Outcome.FAILED
    engine._api.remove_image(it.provider.made_image().name)


def test_the_control_of_a_harbor_folder_is_its_solution(engine: Engine, word: str) -> None:
    """Tests that have no trouble with it make a claim that breaks them a wrong answer."""
    script = TEST_SH.replace("then echo 1", "then echo 1").replace("else echo 0", "else echo nan")
    it = fitted(folder(word, tests__test_sh=None, **{"tests/test.sh": script}))
    claim = Claim(changed={"app.py": File(data=b"print('else')\n")})
    graded = grade_by(it.provider, it.task, claim)
    assert graded.checks[0].outcome is Outcome.FAILED
    assert graded.checks[0].detail.startswith("because of this claim, the reward nan")
    engine._api.remove_image(it.provider.made_image().name)


def test_workspace_files_are_laid_over_those_of_the_image(engine: Engine, word: str) -> None:
    """And what the image's limits say holds: they are the task's."""
    more = {"environment/workspace/app.py": "print('ours')\n"}
    it = fitted(folder(word, **more))
    assert it.task.workspace["app.py"].data == b"print('ours')\n"
    assert "workspace/app.py" not in it.task.workspace
    assert it.provider.containers.limits.memory == 512 << 20
    engine._api.remove_image(it.provider.made_image().name)


def test_an_image_is_named_in_place_of_a_dockerfile(engine: Engine, word: str) -> None:
    """It may hold no files: then the workspace is the folder's own."""
    image = docker().made_image().name
    toml = TOML.replace("cpus = 1\n", f'docker_image = "{image}"\n')
    more = {"environment/Dockerfile": None, "environment/workspace/a.txt": word}
    task = folder(word, **{**more, "task.toml": toml})
    it = fitted(task)
    assert set(it.task.workspace) == {"a.txt"}
    assert ran(it, "cat /app/a.txt").log.decode() == word


def test_absolute_paths_need_no_image_of_the_tasks_own(engine: Engine, word: str) -> None:
    """They lead into the project's image as well, and conditions stay the project's."""
    more = {"environment/Dockerfile": None, "environment/workspace/app.py": "print('right')\n"}
    script = "#!/bin/sh\ncd /app && python3 app.py && echo 1 >/logs/verifier/reward.txt\n"
    it = fitted(folder(word, **{**more, "tests/test.sh": script}))
    assert it.provider.images == docker().images
    assert outcome(it, Claim()) is Outcome.PASSED


@pytest.mark.parametrize("provider", [BwrapProvider, ProcessProvider])
@pytest.mark.parametrize(
    ("more", "needs"),
    [
        ({}, "the image of its environment/Dockerfile"),
        (
            {"environment/Dockerfile": None, "environment/workspace/a": "x"},
            "the path /logs",
        ),
        (
            {
                "environment/Dockerfile": None,
                "environment/workspace/a": "x",
                "tests/test.sh": "true",
                "solution/solve.sh": "true",
                "task.toml": f"{TOML}[metadata.evalgate.setup]\ncommands = ['true']\n",
            },
            "a set-up stage",
        ),
    ],
)
def test_without_containers_such_a_task_is_refused_by_name(provider, more, needs, word) -> None:
    """Task, need and sandbox are told; nothing is run in half of what it needs."""
    with pytest.raises(NotAvailableError) as caught:
        fit(provider(), folder(word, **more), setup_network=False)
    assert f"the task harbor needs {needs}" in caught.value.message.replace("/app", "/logs")
    assert provider().name in caught.value.message


def test_an_image_that_can_not_be_a_workspace_is_refused(engine: Engine, word: str) -> None:
    """A system's directory, or more than a claim could be told from."""
    base = "ARG BASE_IMAGE=python:3.12-slim\nFROM ${BASE_IMAGE}\n"
    with pytest.raises(UsageError, match="WORKDIR /usr can not hold a workspace"):
        fitted(folder(word, **{"environment/Dockerfile": f"{base}WORKDIR /usr\n"}))
    fill = f"{base}WORKDIR /big\nRUN head -c 40000000 /dev/zero >file\n"
    with pytest.raises(UsageError, match=r"WORKDIR is no workspace: more than 33554432 bytes"):
        fitted(folder(word, **{"environment/Dockerfile": fill}))


@pytest.mark.parametrize("volume", ["/app", "/app/data", "/logs/"])
def test_a_volume_where_links_go_is_refused_by_name(engine: Engine, word: str, volume: str) -> None:
    """Nothing can be moved from it, or stand in its place."""
    del engine
    dockerfile = f"{DOCKERFILE}ENV WORD={word}\nVOLUME {volume}\n"
    with pytest.raises(UsageError, match=f"task harbor: its image has a VOLUME {volume}") as it:
        fitted(folder(word, **{"environment/Dockerfile": dockerfile}))
    assert "leave VOLUME out" in str(it.value.hint)


def test_a_volume_elsewhere_and_read_only_packages_are_no_trouble(
    engine: Engine, word: str
) -> None:
    """A claim may add to what the image has installed, also where it could not be written."""
    dockerfile = f"{DOCKERFILE}ENV WORD={word}\nRUN chmod -R a-w node_modules\nVOLUME /apps\n"
    test = "#!/bin/sh\ncd /app && grep more node_modules/it && cat node_modules/new\n"
    it = fitted(folder(word, **{"environment/Dockerfile": dockerfile, "tests/test.sh": test}))
    result = ran(it, "cd /app/node_modules; echo more >>it; echo 1 >new")
    assert outcome(it, claim_of(it.task.workspace, result.trees["repo"])) is Outcome.PASSED
    assert outcome(it, Claim()) is Outcome.FAILED
    engine._api.remove_image(it.provider.made_image().name)


def test_an_image_without_a_shell_is_told_what_it_needs(engine: Engine, word: str) -> None:
    """Not only what its builder makes of that."""
    dockerfile = f"FROM scratch\nENV WORD={word}\nCOPY app.py /app/app.py\nWORKDIR /app\n"
    with pytest.raises(NotAvailableError, match="which needs sh and coreutils, can not be built"):
        fitted(folder(word, **{"environment/Dockerfile": dockerfile}))
    for one in engine.labelled_images():
        if one.name.startswith("evalgate-task-image:") and word in str(engine.image(one.name)):
            engine.remove_image(one.name)


def test_a_directory_that_is_renamed_comes_back(engine: Engine, word: str) -> None:
    """Its files are as old as before, and yet they are new where they are."""
    provider = docker()
    stage = Stage(
        trees={"repo": {"old/deep/a.py": File(data=b"a"), "b.py": File(data=b"b")}},
        argv=["mv", "old", "new"],
        timeout=20,
    )
    with provider.open_sandbox() as sandbox:
        result = sandbox.run(stage, threading.Event())
    assert result.status is StageStatus.EXITED, result.detail
    assert set(result.trees["repo"]) == {"new/deep/a.py", "b.py"}

"""A container that is started before its stage is known: what it is told, and what befalls it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from evalgate.core.files import File, FileMode, Tree
from evalgate.protocols import Stage, StageStatus
from evalgate.sandboxes.container import ContainerProvider, Containers, ContainerSandbox
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.engine_error import EngineError
from evalgate.sandboxes.images import Built

DOCKERFILE = b"""ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}
COPY head /usr/local/bin/head
"""
#: Takes more of its input than it was asked for, as the one of busybox does.
HEAD = b"""#!/usr/bin/env -S python3 -I -S
import sys
_, kind, count, *files = sys.argv
source = open(files[0], "rb") if files else sys.stdin.buffer
sys.stdout.buffer.write(source.readline() if kind == "-n" else source.read(int(count)))
"""
#: What a shell, a line or a text could lose.
WORDS = ["", "a\nb", "\n", "'\"$newline\"'", "$HOME `id` \\", "a\\\n", "*", "~", "-n", "\udcff é"]


def test_a_word_arrives_as_it_is_whatever_the_tools_of_the_image(engine: Engine) -> None:
    """Nothing but the shell, which reads a line and no more, stands before the files."""
    tree: Tree = {
        "Dockerfile": File(data=DOCKERFILE),
        "head": File(data=HEAD, mode=FileMode.EXECUTABLE),
    }
    image = Built(tree, what="it")
    provider = ContainerProvider("docker", engine, Containers(image=image))
    stage = Stage(trees={}, argv=["printf", "%s\\0", *WORDS], timeout=20)
    with provider.open_sandbox() as sandbox:
        result = sandbox.run(stage, threading.Event())
    engine.remove_image(image.ready(engine).name)
    assert result.status is StageStatus.EXITED, result
    assert result.log.decode("utf-8", "surrogateescape").split("\0")[:-1] == WORDS


@pytest.mark.parametrize("fate", ["killed", "removed"])
def test_one_that_was_ended_while_it_waited_is_made_again(
    engine: Engine, fate: str, tmp_path: Path
) -> None:
    """Whoever did it: nothing had begun, so nothing is lost."""
    provider = ContainerProvider("docker", engine, Containers(), tmp_path)
    with provider.open_sandbox() as sandbox:
        assert isinstance(sandbox, ContainerSandbox)
        sandbox._started.stream()
        if fate == "killed":
            engine.kill(sandbox.name)
        else:
            engine.remove(sandbox.name)
        stage = Stage(trees={}, argv=["echo", "done"], timeout=20)
        result = sandbox.run(stage, threading.Event())
    assert (result.status, result.log) == (StageStatus.EXITED, b"done\n")
    assert sandbox.name not in engine.ours()
    assert list(tmp_path.iterdir()) == []


class Restarting(Engine):
    """One that is away for a while: whatever it is asked for meanwhile fails."""

    back = 0.0

    def _look(self) -> None:
        if time.monotonic() < self.back:
            raise EngineError("away")
        super()._look()


def test_an_engine_that_is_started_anew_is_waited_for(engine: Engine, tmp_path: Path) -> None:
    """What waited is lost with it, and made again once it answers: the trial's work is kept."""
    restarting = Restarting(engine.address)
    provider = ContainerProvider("docker", restarting, Containers(), tmp_path)
    with provider.open_sandbox() as sandbox:
        assert isinstance(sandbox, ContainerSandbox)
        sandbox._started.stream()
        engine.kill(sandbox.name)
        restarting.back = time.monotonic() + 1.5
        stage = Stage(trees={}, argv=["echo", "done"], timeout=20)
        result = sandbox.run(stage, threading.Event())
    assert (result.status, result.log) == (StageStatus.EXITED, b"done\n"), result
    assert sandbox.name not in engine.ours()
    restarting.close()


def test_who_interrupts_waits_for_no_engine(engine: Engine, tmp_path: Path) -> None:
    """The trial is made again another time; that it was not measured is nobody's fault."""
    restarting = Restarting(engine.address)
    provider = ContainerProvider("docker", restarting, Containers(), tmp_path)
    stop = threading.Event()
    with provider.open_sandbox() as sandbox:
        assert isinstance(sandbox, ContainerSandbox)
        sandbox._started.stream()
        engine.kill(sandbox.name)
        restarting.back = time.monotonic() + 600
        threading.Timer(1.0, stop.set).start()
        stage = Stage(trees={}, argv=["echo", "done"], timeout=20)
        result = sandbox.run(stage, stop)
        restarting.back = 0.0
    assert result.status is StageStatus.INTERRUPTED
    assert sandbox.name not in engine.ours()
    restarting.close()

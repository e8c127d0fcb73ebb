"""A real model, small and offline, asked through the gateway and then replayed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalgate.gateway.upstream import Upstream
from tests.clients.conftest import installed

PROGRAM = Path(__file__).with_name("sdk_question.py")
SERVER = Path(__file__).with_name("model_server.py")
MODEL = "smollm2-135m-instruct"


@dataclass(frozen=True)
class Question:
    """A question put by a provider's library."""

    api: str
    stream: bool
    program = "venv/bin/python"
    finish = None

    def argv(self, ground):
        """Name the file, the API and the model."""
        return [str(PROGRAM), self.api, MODEL, *(["--stream"] if self.stream else [])]

    def environment(self, ground):
        """Give the libraries the route."""
        return {
            "ANTHROPIC_API_KEY": ground.key,
            "ANTHROPIC_BASE_URL": ground.base,
            "OPENAI_API_KEY": ground.key,
            "OPENAI_BASE_URL": f"{ground.base}/v1",
        }

    def calls(self, repo):
        """Call nothing: the model is too small for tools."""
        return []


@pytest.fixture(scope="module")
def model(software) -> Iterator[str]:
    """Serve the model while these tests run, and return its base URL."""
    argv = [software.installed("venv/bin/python"), SERVER, MODEL]
    with software.serving(argv, "model at: ") as url:
        yield url


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("api", "dialect", "exchanges"),
    [
        ("chat", "openai-chat", 1),
        ("responses", "openai-responses", 1),
        ("messages", "anthropic", 2),
    ],
)
def test_a_model_that_samples_says_the_same_from_a_recording(
    rig, model, api, dialect, exchanges, stream
):
    """Words of a real model, drawn by chance: the recording gives those and no others."""
    question = Question(api, stream)
    for _ in range(5):  # by chance a model may also say nothing at all
        first = rig.record_at(question, {MODEL: Upstream(url=model)})
        if first.witness.trajectory.final_answer:
            break
    seen = [(one.status, one.dialect) for one in first.witness.exchanges]
    assert seen == [(200, dialect)] * exchanges, first.stderr
    assert first.witness.usage.output_tokens
    assert first.witness.trajectory.final_answer in first.stdout
    assert len(first.witness.trajectory.final_answer.split()) > 5
    again = rig.replay(question, first.tape)
    rig.check_replayed(again, first)
    assert again.stdout == first.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_of_a_local_model_decides_how_it_ends(tmp_path, number):
    """A signal ends command and server, and the command's own code is told."""
    python = Path(installed("venv/bin/python"))
    (packages,) = python.parents[1].glob("lib/python3*/site-packages")
    process = subprocess.Popen(
        [Path(sys.executable).parent / "evalgate", "local-model", "--", "sleep", "60"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(packages)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while not _child_of(process.pid, "sleep"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    if number == signal.SIGINT:  # a terminal sends it to the command as well
        os.kill(_child_of(process.pid, "sleep"), number)
    process.communicate(timeout=20)
    assert process.returncode == 128 + number


def _child_of(pid: int, name: str) -> int:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(") ", 1)
        except OSError:
            continue
        if int(fields[1].split()[1]) == pid and fields[0].endswith(f"({name}"):
            return int(path.parent.name)
    return 0

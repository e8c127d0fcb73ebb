"""A real model, small and offline, asked through the gateway and then replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalgate.gateway.upstream import Upstream

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

"""What is built before what, and what is said when something else is taken."""

from __future__ import annotations

import logging

import pytest

from evalgate.core.config import load_config
from evalgate.core.harness import Harness
from evalgate.core.schema import Source
from evalgate.errors import NotAvailableError, UsageError
from evalgate.wiring import Kind, Setup, open_bench, provider_for

CONFIG = """
[harness.parts]
code = ["agent.py"]
[models.main]
id = "m"
upstream = "env:MODEL_URL"
[agent]
use = "USE"
command = ["true"]
"""


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("CONTAINER_HOST", "unix:///nowhere/podman.sock")


def setup_of(kind: Kind, use: str = "command") -> Setup:
    """Return what asks for an engine that is not there."""
    config = load_config(Source("evalgate.toml", CONFIG.replace("USE", use)), below=())
    harness = Harness(
        label="it", config=config, fingerprint="f" * 64, parts={}, members={}, files={}
    )
    return Setup(kind=kind, harness=harness, tasks=[], sandbox="docker")


@pytest.mark.parametrize("kind", [Kind.REPLAY, Kind.REGRADE])
def test_a_replay_says_why_it_takes_another_sandbox(
    kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    """Its numbers may differ there, and the named one may be easy to mend."""
    with caplog.at_level(logging.WARNING):
        assert provider_for(setup_of(kind)).name != "docker"
    assert "another sandbox is taken: the sandbox 'docker' can not be used here" in caplog.text


def test_a_live_run_takes_no_other_sandbox() -> None:
    """What is measured anew is measured where the configuration says."""
    with pytest.raises(NotAvailableError, match="'docker' can not be used here"):
        provider_for(setup_of(Kind.RUN))


def test_an_unknown_agent_is_told_before_any_sandbox_is_made_ready() -> None:
    """To make an image takes minutes; to read a name takes none."""
    with (
        pytest.raises(UsageError, match="unknown adapter"),
        open_bench(setup_of(Kind.RUN, use="nobody"), {"MODEL_URL": "http://127.0.0.1:9"}),
    ):
        pass

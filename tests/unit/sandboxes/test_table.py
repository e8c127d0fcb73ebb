"""The choice among sandboxes, at an engine that answers and can get no image."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalgate.errors import NotAvailableError
from evalgate.sandboxes.container import Containers, docker
from evalgate.sandboxes.images import Named
from evalgate.sandboxes.table import resolve
from tests.bare_engine import BareEngine, open_bare_engine


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BareEngine]:
    """The engine that the environment names."""
    with open_bare_engine(tmp_path / "engine") as engine:
        monkeypatch.setenv("DOCKER_HOST", engine.address)
        yield engine


def fetched(bare: BareEngine) -> int:
    """Return how often the engine was to fetch an image."""
    return sum("/images/create" in path for path in bare.asked)


def test_to_look_makes_no_image(bare: BareEngine) -> None:
    """Whether a sandbox can be used is told without a build, and without any registry."""
    assert docker().unavailable() is None
    assert not [path for path in bare.asked if "/images/" in path or "/build" in path]


def test_auto_passes_over_an_engine_that_gets_no_image(
    bare: BareEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so in one line, and does not try again in this process."""
    containers = Containers(image=Named("no-such:1"))
    with caplog.at_level(logging.WARNING):
        first = resolve("auto", containers=containers)
    assert first.name != "docker"
    (said,) = [one.getMessage() for one in caplog.records if "docker" in one.getMessage()]
    assert said.startswith("the sandbox docker is passed over: the image no-such:1 is not there")
    assert "\n" not in said
    assert fetched(bare) == 1
    assert resolve("auto", containers=containers).name == first.name
    assert fetched(bare) == 1


def test_an_image_of_ones_own_that_can_not_be_made_is_what_is_told(bare: BareEngine) -> None:
    """Nothing that could be installed would help."""
    containers = Containers(image=Named("no-such:1"), own=True)
    with pytest.raises(NotAvailableError, match=r"^the image no-such:1 is not there") as caught:
        resolve("auto", isolated=True, containers=containers)
    assert "build it from a Dockerfile" in caught.value.hint
    del bare


def test_an_engine_that_was_asked_for_must_get_its_image(bare: BareEngine) -> None:
    """It is an error with its way out, never another sandbox."""
    with pytest.raises(NotAvailableError, match="no-such:1 is not there") as caught:
        resolve("docker", containers=Containers(image=Named("no-such:1")))
    assert "build it from a Dockerfile" in caught.value.hint
    assert fetched(bare) == 1

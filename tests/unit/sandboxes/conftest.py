"""The engine of this machine, for tests that need a real one."""

from __future__ import annotations

import os

import pytest

from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine
from tests.providers import not_usable


@pytest.fixture
def engine() -> Engine:
    """Return the engine at hand."""
    reason = not_usable(docker())
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    return Engine()

"""The engine of this machine, for tests that need a real one."""

from __future__ import annotations

import os

import pytest

from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine


@pytest.fixture
def engine() -> Engine:
    """Return the engine at hand."""
    reason = docker().unavailable()
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    return Engine()

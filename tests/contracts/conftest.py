"""Each kind of sandbox in turn, for the lists of what they keep to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalgate.protocols import SandboxProvider
from evalgate.sandboxes.table import PROVIDERS
from tests.providers import not_usable


@pytest.fixture(params=sorted(PROVIDERS))
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> SandboxProvider:
    """Return each provider in turn, its rooms below a directory of the test's own."""
    made = PROVIDERS[request.param](tmp_path)
    reason = not_usable(made)
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(f"{request.param}: {reason}")
    return made

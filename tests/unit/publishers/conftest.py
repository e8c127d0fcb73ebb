"""A stateful GitHub on loopback, and the token that it knows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github.fake import FakeGitHub, serve


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    """A GitHub without any comment."""
    with serve() as state:
        yield state

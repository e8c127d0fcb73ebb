"""A sandbox that is open before it is needed: of whom, when, and how often."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from evalgate.runner.ahead import opened_ahead
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import docker
from evalgate.sandboxes.process import ProcessProvider


class Counting:
    """A provider that notes what it opens and closes."""

    def __init__(self, *, starts_ahead: bool) -> None:
        self.starts_ahead = starts_ahead
        self.said: list[str] = []

    @contextlib.contextmanager
    def open_sandbox(self) -> Iterator[str]:
        name = f"sandbox {len([one for one in self.said if one.startswith('open')])}"
        self.said.append(f"open {name}")
        try:
            yield name
        finally:
            self.said.append(f"close {name}")


def opened(provider: Any) -> list[str]:
    """Open two sandboxes one after another, with something between."""
    found = []
    with opened_ahead(provider) as sandboxes:
        provider.said.append("agent")
        for _ in range(2):
            with sandboxes.open_sandbox() as sandbox:
                found.append(sandbox)
    return found


def test_the_first_is_open_before_the_agent_works() -> None:
    provider = Counting(starts_ahead=True)
    assert opened(provider) == ["sandbox 0", "sandbox 1"]
    assert provider.said == [
        "open sandbox 0",
        "agent",
        "open sandbox 1",
        "close sandbox 1",
        "close sandbox 0",
    ]


def test_a_room_on_the_host_is_opened_when_it_is_used() -> None:
    provider = Counting(starts_ahead=False)
    assert opened(provider) == ["sandbox 0", "sandbox 1"]
    assert provider.said[0] == "agent"


def test_one_that_is_never_used_is_closed() -> None:
    provider = Counting(starts_ahead=True)
    with pytest.raises(KeyError), opened_ahead(provider):  # type: ignore[arg-type]
        raise KeyError
    assert provider.said == ["open sandbox 0", "close sandbox 0"]


def test_only_containers_wait_where_no_agent_reaches_them() -> None:
    assert docker().starts_ahead
    assert not BwrapProvider().starts_ahead
    assert not ProcessProvider().starts_ahead

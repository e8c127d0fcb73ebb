"""The sandbox of a grade, opened while the agent still works: its container is started by then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager

from evalgate.protocols import Sandbox, Sandboxes, SandboxProvider


@contextlib.contextmanager
def opened_ahead(provider: SandboxProvider) -> Iterator[Sandboxes]:
    """Yield where sandboxes come from, the first of them open already.

    Only of a provider that gains by it: a room on the host that waits for its tests would lie
    beside an agent that works.
    """
    if not provider.starts_ahead:
        yield provider
        return
    with provider.open_sandbox() as sandbox:
        yield _Ahead(provider, sandbox)


class _Ahead:
    """Gives away one open sandbox, then fresh ones."""

    def __init__(self, provider: SandboxProvider, sandbox: Sandbox) -> None:
        self._provider = provider
        self._waiting: Sandbox | None = sandbox

    def open_sandbox(self) -> AbstractContextManager[Sandbox]:
        """Return the one that waits, which whoever opened it removes, or a fresh one."""
        sandbox, self._waiting = self._waiting, None
        if sandbox is None:
            return self._provider.open_sandbox()
        return contextlib.nullcontext(sandbox)

"""The table of sandboxes, the strongest first, and the choice among them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import Containers, docker, podman, podman_engine
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.process import ProcessProvider

_log = logging.getLogger(__name__)


class Maker(Protocol):
    """How a provider is made."""

    def __call__(
        self, containers: Containers | None = None, /, temp: Path | None = None
    ) -> SandboxProvider:
        """Return one: what makes containers makes these, and rooms lie below ``temp``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How a provider is made, the engine of one that makes containers, and what names that."""

    make: Maker
    engine: Callable[[], Engine] | None = None
    variable: str = ""


#: By the name in the configuration, in the order in which ``auto`` tries them.
PROVIDERS: Mapping[str, Row] = {
    "docker": Row(make=docker, engine=Engine, variable="DOCKER_HOST"),
    "podman": Row(make=podman, engine=podman_engine, variable="CONTAINER_HOST"),
    "bwrap": Row(make=lambda _=None, temp=None: BwrapProvider(temp)),
    "process": Row(make=lambda _=None, temp=None: ProcessProvider(temp)),
}


def engines() -> tuple[Engine, ...]:
    """Return the engines that sandboxes may have been made in."""
    return tuple(row.engine() for row in PROVIDERS.values() if row.engine is not None)


def resolve(
    name: str,
    *,
    isolated: bool = False,
    recorded: Sequence[str] = (),
    containers: Containers | None = None,
) -> SandboxProvider:
    """Return the provider of that name, or with ``auto`` the strongest that can be used, prepared.

    With ``auto`` one whose image can not be made is passed over, and that is said. Those that
    recordings were made in are tried first: another may have other programs. Containers are made
    of ``containers``. When trials must be ``isolated``, ``auto`` takes no plain process, and,
    where the project has an image of its own, engines alone.

    Raises:
        UsageError: there is no such provider.
        NotAvailableError: the named one, or with ``auto`` every one, can not be used here, or
            the image it needs can not be made.
    """
    if name == "auto":
        named = [one for one in recorded if one in PROVIDERS]
        return _strongest(named, isolated=isolated, containers=containers)
    if name not in PROVIDERS:
        raise UsageError(
            f"there is no sandbox named {name!r}",
            hint=f"sandbox.use is one of: auto, {', '.join(sorted(PROVIDERS))}",
        )
    provider = PROVIDERS[name].make(containers)
    reason = provider.unavailable()
    if reason is not None:
        raise NotAvailableError(
            f"the sandbox {name!r} can not be used here: {reason}",
            hint='set sandbox.use = "auto" to take the strongest one that works here,'
            ' or "process" for none: no isolation',
        )
    provider.prepare()
    return provider


def _strongest(
    recorded: Sequence[str], *, isolated: bool, containers: Containers | None
) -> SandboxProvider:
    reasons, unmade = [], None
    for name in dict.fromkeys((*recorded, *PROVIDERS)):
        row = PROVIDERS[name]
        provider = row.make(containers)
        # A project that names an image wants its programs, not those of the host.
        foreign = containers is not None and containers.own and row.engine is None
        if isolated and (foreign or not provider.promises.isolates):
            continue
        reason = provider.unavailable()
        if reason is None:
            try:
                provider.prepare()
            except NotAvailableError as error:
                unmade = unmade or error
                reason = error.message if not error.hint else f"{error.message} ({error.hint})"
                _log.warning("the sandbox %s is passed over: %s", name, error.message)
            else:
                return provider
        elif os.environ.get(row.variable):  # a slip in it must not choose another in silence
            _log.warning("the sandbox %s is passed over: %s (%s)", name, reason, row.variable)
        reasons.append(f"{name}: {reason}")
    if unmade is not None and containers is not None and containers.own:
        raise unmade
    raise NotAvailableError(
        f"nothing here isolates an agent ({'; '.join(reasons)})",
        hint="install Docker or bubblewrap, or make live runs in CI; `evalgate replay` works here;"
        ' sandbox.use = "process" allows none: agent and tests would run as you',
    )

"""The table of sandboxes, and the choice among them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import Containers, docker, podman
from evalgate.sandboxes.process import ProcessProvider

#: Those that make containers, of what the configuration says.
ENGINES: Mapping[str, Callable[..., SandboxProvider]] = {"docker": docker, "podman": podman}

PROVIDERS: Mapping[str, Callable[[], SandboxProvider]] = {
    **ENGINES,
    "bwrap": BwrapProvider,
    "process": ProcessProvider,
}

#: What ``auto`` tries, the strongest first; a plain process holds nothing, so it comes last,
#: and only where nothing new is measured.
AUTO = ("docker", "podman", "bwrap")
_LAST = "process"

_log = logging.getLogger(__name__)


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
    provider = _made(name, containers)
    reason = provider.unavailable()
    if reason is not None:
        raise NotAvailableError(
            f"the sandbox {name!r} can not be used here: {reason}",
            hint='set sandbox.use = "auto" to take the strongest one that works here,'
            ' or "process" for none: no isolation',
        )
    provider.prepare()
    return provider


def _made(name: str, containers: Containers | None) -> SandboxProvider:
    return ENGINES[name](containers=containers) if name in ENGINES else PROVIDERS[name]()


def _strongest(
    recorded: Sequence[str], *, isolated: bool, containers: Containers | None
) -> SandboxProvider:
    # A project that names an image wants its programs, not those of the host.
    strong = [name for name in AUTO if name in ENGINES or not (containers and containers.own)]
    order = [*recorded, *(strong if isolated else (*AUTO, _LAST))]
    reasons = []
    for name in dict.fromkeys(order):
        provider = _made(name, containers)
        reason = provider.unavailable()
        if reason is None:
            try:
                provider.prepare()
            except NotAvailableError as error:
                reason = error.message if not error.hint else f"{error.message} ({error.hint})"
                _log.warning("the sandbox %s is passed over: %s", name, error.message)
            else:
                return provider
        reasons.append(f"{name}: {reason}")
    raise NotAvailableError(
        f"nothing here isolates an agent ({'; '.join(reasons)})",
        hint="install Docker or bubblewrap, or make live runs in CI; `evalgate replay` works here;"
        ' sandbox.use = "process" allows none: agent and tests would run as you',
    )

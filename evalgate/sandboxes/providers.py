"""The table of sandboxes, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.process import ProcessProvider

PROVIDERS: Mapping[str, Callable[[], SandboxProvider]] = {
    "bwrap": BwrapProvider,
    "process": ProcessProvider,
}

#: What ``auto`` tries, the strongest first.
AUTO = ("bwrap", "process")


def resolve(name: str) -> SandboxProvider:
    """Return the provider of that name, or with ``auto`` the strongest that can be used.

    Raises:
        UsageError: there is no such provider.
        NotAvailableError: the named one, or with ``auto`` every one, can not be used here.
    """
    if name == "auto":
        return _strongest()
    if name not in PROVIDERS:
        raise UsageError(
            f"there is no sandbox named {name!r}",
            hint=f"sandbox.use is one of: auto, {', '.join(sorted(PROVIDERS))}",
        )
    provider = PROVIDERS[name]()
    reason = provider.unavailable()
    if reason is not None:
        raise NotAvailableError(
            f"the sandbox {name!r} can not be used here: {reason}",
            hint='set sandbox.use = "auto" to take the strongest one that works here,'
            ' or "process" for none: no isolation',
        )
    return provider


def _strongest() -> SandboxProvider:
    reasons = []
    for name in AUTO:
        provider = PROVIDERS[name]()
        reason = provider.unavailable()
        if reason is None:
            return provider
        reasons.append(f"{name}: {reason}")
    raise NotAvailableError("no sandbox can be used here", hint="; ".join(reasons))

"""What tests ask of providers of sandboxes before they use one."""

from __future__ import annotations

from evalgate.errors import NotAvailableError
from evalgate.protocols import SandboxProvider


def not_usable(provider: SandboxProvider) -> str | None:
    """Say why no sandbox can be opened here, None when one can; its image is made."""
    reason = provider.unavailable()
    if reason is None:
        try:
            provider.prepare()
        except NotAvailableError as error:
            return f"{error.message} ({error.hint})"
    return reason

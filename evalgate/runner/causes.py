"""Why a replay diverged, as far as the harness is concerned."""

from __future__ import annotations

from evalgate.core.exchange import Miss
from evalgate.core.harness import Harness
from evalgate.gateway.format.header import Header
from evalgate.gateway.misses.cause import blame


def explained(miss: Miss, *, header: Header, harness: Harness) -> Miss:
    """Return the miss with what the harness has to do with it; ``header`` is the recording's."""
    return blame(miss, then=header.parts, now=harness.parts, sources=sources_of(harness))


def sources_of(harness: Harness) -> dict[str, tuple[bytes, ...]]:
    """Return the files of each part, by name; a submodule is a member without a file."""
    return {
        name: tuple(harness.files[path].data for path in paths if path in harness.files)
        for name, paths in harness.members.items()
    }

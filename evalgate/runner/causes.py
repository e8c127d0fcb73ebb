"""Why a replay diverged, as far as the harness is concerned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalgate.core.exchange import Miss
from evalgate.core.harness import Harness
from evalgate.gateway.misses.cause import blame


def explained(miss: Miss, *, header: Mapping[str, Any], harness: Harness) -> Miss:
    """Return the miss with what the harness has to do with it; ``header`` is the recording's."""
    then = {str(name): str(digest) for name, digest in dict(header.get("parts", {})).items()}
    return blame(miss, then=then, now=harness.parts, sources=sources_of(harness))


def sources_of(harness: Harness) -> dict[str, tuple[bytes, ...]]:
    """Return the files of each part, by name; a submodule is a member without a file."""
    return {
        name: tuple(harness.files[path].data for path in paths if path in harness.files)
        for name, paths in harness.members.items()
    }

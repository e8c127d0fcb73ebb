"""The short name of a harness, in a module that costs the pre-push hook nothing to import."""

from __future__ import annotations


def short_of(fingerprint: str) -> str:
    """Return the first twelve hex of a fingerprint, which name its harness and its recordings."""
    return fingerprint[:12]

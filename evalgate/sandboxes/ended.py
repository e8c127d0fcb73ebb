"""How a container ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a container ended: its exit code, and whether memory was used up."""

    exit_code: int
    out_of_memory: bool

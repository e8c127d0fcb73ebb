"""A harness: what stands around the model, as it is in one state of the repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.core.config import Config
from evalgate.core.files import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The parts of a harness and their digests; ``files`` are what ``{harness_dir}`` holds."""

    label: str
    config: Config
    fingerprint: str
    parts: Mapping[str, str]
    files: Tree

    @property
    def short(self) -> str:
        """The first twelve hex of the fingerprint, which name its cassettes."""
        return self.fingerprint[:12]

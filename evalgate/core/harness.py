"""A harness: what stands around the model, as it is in one state of the repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.core.config import Config
from evalgate.core.files import Tree
from evalgate.core.short_name import short_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The parts of a harness and their digests; ``files`` are what ``{harness_dir}`` holds.

    ``members`` are the paths of each part's files, as git matched them; the tables of the
    configuration are a part that has none.
    """

    label: str
    config: Config
    fingerprint: str
    parts: Mapping[str, str]
    members: Mapping[str, tuple[str, ...]]
    files: Tree

    @property
    def short(self) -> str:
        """The first twelve hex of the fingerprint, which name its cassettes."""
        return short_of(self.fingerprint)

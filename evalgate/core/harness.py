"""A harness: what stands around the model, as it is in one state of the repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.core.config import Config
from evalgate.core.files import Tree
from evalgate.core.models import ModelSpec
from evalgate.core.short_name import short_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The parts of a harness and their digests; ``files`` are what ``{harness_dir}`` holds.

    ``members`` are the paths of each part's files, as git matched them; the tables of the
    configuration are a part that has none. ``judging`` are the models by whose tables the judges of
    tasks are served where they are not its own: those of who judges it.
    """

    label: str
    config: Config
    fingerprint: str
    parts: Mapping[str, str]
    members: Mapping[str, tuple[str, ...]]
    files: Tree
    judging: Mapping[str, ModelSpec] | None = None

    @property
    def judges(self) -> Mapping[str, ModelSpec]:
        """The models, by their names, of which a task may name one as the place of its judge."""
        return self.config.models if self.judging is None else self.judging

    @property
    def short(self) -> str:
        """The first twelve hex of the fingerprint, which name its cassettes."""
        return short_of(self.fingerprint)

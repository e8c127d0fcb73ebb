"""What a task asks of the place it is worked on in, beside its files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.files import Tree

#: Where Harbor's tasks expect tests, solution, rewards and, mostly, the workspace. A word that
#: a variable leads to, as in ``${LOGS:-/logs}``, is no such path.
_ABSOLUTE: Final = re.compile(r"(?<![\w})/.:-])/(?:tests|solution|logs|app)(?![\w.-])")
#: What an engine takes for the name of an image: a host, a path in small letters, tag and digest.
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    rf"{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_LONGEST_IMAGE: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """Commands that make a workspace ready before any agent sees it, by the network or without."""

    commands: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The image of a task, its limits, its set-up.

    ``image`` is used as it is; ``context`` is a folder with a Dockerfile to be built. ``workdir``
    overrides the image's own, whose files the workspace begins with. ``absolute`` names the first
    path outside the workspace that the task's scripts use. 0 is the project's limit.
    """

    image: str = ""
    context: Tree = field(default_factory=dict)
    workdir: str = ""
    absolute: str = ""
    cpus: float = 0.0
    memory_mb: int = 0
    set_up: SetUp = field(default_factory=SetUp)

    @property
    def has_image(self) -> bool:
        """Whether the task brings an image of its own."""
        return bool(self.image or self.context)

    @property
    def needs(self) -> str:
        """Say for what a container is needed; empty when any sandbox will do."""
        if self.image:
            return f"the image {self.image}"
        if self.context:
            return "the image of its environment/Dockerfile"
        if self.set_up.commands:
            return "a set-up stage"
        return f"the path {self.absolute}" if self.absolute else ""


def is_image(name: str) -> bool:
    """Tell whether a text can be the name of an image, and nothing else on a command line."""
    return len(name) <= _LONGEST_IMAGE and _IMAGE.fullmatch(name) is not None


def absolute_path(texts: list[str]) -> str:
    """Return the first of the usual absolute paths that scripts use, or nothing."""
    found = (_ABSOLUTE.search(text) for text in texts)
    return next((hit[0] for hit in found if hit), "")

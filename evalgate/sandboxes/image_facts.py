"""What an engine knows of an image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What an engine knows of an image; ``content`` is twelve hex of its layers and settings.

    Unlike its id, the content is the same wherever and whenever the image was imported or pulled.
    """

    labels: Mapping[str, str]
    env: Mapping[str, str]
    workdir: str
    content: str
    volumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledImage:
    """An image that says what it was made of, or that stands on one which does.

    ``name`` is a tag, or the id where it has none; ``created`` is in seconds since 1970.
    """

    name: str
    inputs: str
    created: float
    tagged: bool

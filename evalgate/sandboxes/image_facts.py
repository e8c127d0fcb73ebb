"""What an engine knows of an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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


def labelled(found: Iterable[Mapping[str, Any]], label: str) -> list[LabelledImage]:
    """Return the images of an engine's list by each of their tags, the newest first."""
    images = [
        LabelledImage(
            name=name or str(one["Id"]),
            inputs=str(one["Labels"][label]),
            created=float(one["Created"]),
            tagged=bool(name),
        )
        for one in found
        for name in _tags(one) or [""]
    ]
    return sorted(images, key=lambda one: -one.created)


def _tags(image: Mapping[str, Any]) -> list[str]:
    return [tag for tag in image.get("RepoTags") or () if tag != "<none>:<none>"]

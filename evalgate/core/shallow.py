"""JSON that can be written: a reply of a model may be nested deeper than a file can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.core.json import Json

_DEEPEST: Final = 200


def shallow(value: Json, room: int = _DEEPEST) -> Json:
    """Return a value with what is nested deeper than ``room`` levels left out, and told."""
    if not isinstance(value, Mapping | list):
        return value
    if not room:
        return "[nested too deeply]"
    if isinstance(value, Mapping):
        return {name: shallow(inner, room - 1) for name, inner in value.items()}
    return [shallow(inner, room - 1) for inner in value]

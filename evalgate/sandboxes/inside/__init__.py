"""What goes into a sandbox beside its program: texts for shells, Python, Node and engines."""

from __future__ import annotations

from importlib.resources import files


def inner_text(name: str) -> str:
    """Return one of these texts."""
    return (files(__name__) / name).read_text(encoding="utf-8")

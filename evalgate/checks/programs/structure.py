"""Counts the places of a source that have the structure of a pattern, by ast-grep."""

from __future__ import annotations

from typing import Any

from ast_grep_py import SgRoot


def main(given: dict[str, Any]) -> int:
    """Count where ``pattern`` matches in ``text``, a source in ``language``."""
    root = SgRoot(given["text"], given["language"]).root()
    return len(root.find_all(pattern=given["pattern"]))

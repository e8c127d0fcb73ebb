"""Finds the lines in which a regular expression matches."""

from __future__ import annotations

import re
from typing import Any


def main(given: dict[str, Any]) -> list[int]:
    """Return the places of those ``lines`` in which ``pattern`` matches, from 0."""
    pattern = re.compile(given["pattern"])
    return [at for at, line in enumerate(given["lines"]) if pattern.search(line)]

"""Counts the matches of a regular expression; ``^`` and ``$`` match at every line."""

from __future__ import annotations

import re
from typing import Any


def main(given: dict[str, Any]) -> int:
    """Count the matches of ``pattern`` in ``text``, and stop at the first when asked to."""
    pattern = re.compile(given["pattern"], re.MULTILINE)
    if given["first"]:
        return int(pattern.search(given["text"]) is not None)
    return sum(1 for _ in pattern.finditer(given["text"]))

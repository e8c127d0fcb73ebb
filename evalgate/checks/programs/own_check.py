"""Calls a check of a project's own, in the sandbox in which claims are graded.

Ends with 0 for passed, 10 for failed, and anything else for what could not be measured.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any


def main(name: str, params: str) -> int:
    """Call ``package.module:function`` with what is seen and its parameters."""
    here = Path(__file__).parent
    sys.path.insert(0, str(here / "code"))
    seen: Any = json.loads((here / "seen.json").read_text(encoding="utf-8"))
    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)(seen, **json.loads(params))
    outcome, words = found if isinstance(found, tuple) and len(found) == 2 else (found, "")  # noqa: PLR2004
    if outcome is True:
        return 0
    if outcome is False:
        sys.stdout.write(f"\n{words or f'{name} returned False'}\n")
        return 10
    sys.stdout.write(f"\n{name} returned {outcome!r}, which is neither True nor False\n")
    return 11


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

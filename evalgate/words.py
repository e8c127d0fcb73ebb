"""Planned errors in words: two lines for a person, one document for a program."""

from __future__ import annotations

import json
import sys

from evalgate.errors import EvalgateError


def say(error: EvalgateError, *, as_json: bool) -> None:
    """Print an error on stderr, or as JSON on stdout when that was asked for."""
    if as_json:
        value = {
            "error": {
                "message": error.message,
                "hint": error.hint,
                "exit_code": int(error.exit_code),
            }
        }
        print(json.dumps(value, ensure_ascii=True))
        return
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)

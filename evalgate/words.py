"""Planned errors in words: two lines for a person, one document for a program."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TextIO

from evalgate.core.plain import plain
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
        _print(json.dumps(value, ensure_ascii=True), sys.stdout)
        return
    _print(f"error: {error.message}", sys.stderr)
    if error.hint:
        _print(f"hint: {error.hint}", sys.stderr)


def _print(text: str, stream: TextIO | None) -> None:
    # Nobody may be reading any more; the exit code still counts.
    with contextlib.suppress(OSError, ValueError):
        print(plain(text), file=stream, flush=True)

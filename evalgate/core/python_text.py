"""Texts of Python read as trees, by one thread at a time."""

from __future__ import annotations

import ast
import threading
from typing import Final

#: Python 3.11 and 3.12 lose count when threads read at once: SystemError, "recursion depth
#: mismatch" (https://github.com/python/cpython/issues/106905).
_ONE: Final = threading.Lock()
_TRIES: Final = 3


def tree_of(text: str) -> ast.Module | None:
    """Return the tree of a text, None when it is no Python."""
    for _ in range(_TRIES):
        try:
            with _ONE:
                return ast.parse(text)
        except SystemError:  # a collection in the midst of it counts wrong as well
            continue
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return None


def compiles(text: str) -> bool:
    """Tell whether a text is a program."""
    try:
        with _ONE:
            compile(text, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return False
    return True

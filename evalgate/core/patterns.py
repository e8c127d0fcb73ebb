"""A pattern of the project's own, and the reason for it, in a table of the configuration."""

from __future__ import annotations

import re
import warnings

from evalgate.core.schema import Reader


def read_pattern(table: Reader) -> str:
    """Read ``pattern``, which only the empty text is tried on: `re` may never come to an end."""
    text = table.text("pattern")
    try:
        with warnings.catch_warnings():
            # Such as [[:digit:]], which is not what it looks like.
            warnings.simplefilter("error", FutureWarning)
            pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError, FutureWarning) as error:
        hint = "a pattern is a regular expression of Python's re"
        raise table.error(f"{text!r} is no pattern: {error}", "pattern", hint=hint) from error
    if pattern.search(""):
        hint = "a rule must name the words around the volatile text"
        raise table.error(f"{text!r} also matches nothing at all", "pattern", hint=hint)
    return text


def read_reason(table: Reader) -> str:
    """Read ``reason``, which says something."""
    reason = table.text("reason")
    if not reason.strip():
        hint = "say in a line why it is looked for"
        raise table.error("must not be empty", "reason", hint=hint)
    return reason

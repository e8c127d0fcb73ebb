"""A document in the project's tree: TOML that begins with its format version."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import tomli_w

from evalgate.core.identity import FORMAT
from evalgate.errors import UsageError

_T = TypeVar("_T")

#: All that reading can end with when a file is cut, edited or made to do harm: ``inf`` is a
#: number that overflows, and brackets can be nested as deep as a file is long.
_ODD = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


def dump_document(value: Mapping[str, Any]) -> bytes:
    """Return the file's bytes; texts of several lines keep their lines."""
    text = tomli_w.dumps(value, multiline_strings=True)
    if tomllib.loads(text) != value:  # a multi-line string loses the CR of CR LF
        text = tomli_w.dumps(value)
    return text.encode()


def load_document(
    data: bytes, *, name: str, what: str, read: Callable[[Mapping[str, Any]], _T]
) -> _T:
    """Return what ``read`` makes of a file called ``name`` that should be ``what``.

    Raises:
        UsageError: it is newer than this evalgate, or is none.
    """
    try:
        value: Mapping[str, Any] = tomllib.loads(data.decode())
        if int(value["format"]) > FORMAT:
            message = f"{name}: format {value['format']} is newer than this evalgate knows"
            raise UsageError(message, hint="upgrade git-evalgate")
        return read(value)
    except _ODD as error:
        message = f"{name}: this is no {what}: {error!r}"
        raise UsageError(message, hint="restore it from git") from error


def require_own_name(name: str, filename: str, *, hint: str) -> None:
    """Refuse a file whose content belongs to another name: it was edited by hand."""
    if name.rsplit("/", 1)[-1] != filename:
        message = f"{name}: the content belongs to {filename}: it was edited by hand"
        raise UsageError(message, hint=f"restore it from git; {hint}")

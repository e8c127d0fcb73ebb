"""What a person asked for in a transcript of a session with an agent, whoever wrote it down."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from evalgate.errors import UsageError

#: How JSON begins; words that a person wrote begin so next to never.
_JSON: Final = re.compile(r'\s*(?:\{|\[\s*(?:[\[{"\]]|\Z))')


_BROKEN: Final = object()
_HINT: Final = "take the line out, or say what the agent should do: --instruction TEXT or @FILE"


def first_request(data: bytes, name: str) -> str:
    """Return the first words of a user, empty where none can be found.

    Read are trajectories of ATIF, lists of messages as providers take them, and files with one
    message a line as agents on the command line keep them. What is no JSON is a request itself.

    Raises:
        UsageError: a line is no UTF-8, or one of JSON is broken; the file is shown as ``name``.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}:{line}: this is no UTF-8", hint=_HINT) from error
    return next((said for value in _values(text, name) for said in _requests(value) if said), "")


def _values(text: str, name: str) -> list[Any]:
    whole = _read(text)
    if whole is not _BROKEN:
        return [whole]
    lines = [(at, _read(line)) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    broken = next((at for at, value in lines if value is _BROKEN), None)
    rows = [value for _, value in lines if isinstance(value, dict | list)]
    if rows and broken is None:
        return rows
    if not rows and not _JSON.match(text):
        return [{"role": "user", "content": text}]
    is_whole = not rows or text.split(maxsplit=1)[0] in {"[", "{"}  # one document, in many lines
    line = _line_of_error(text) if is_whole else broken
    raise UsageError(f"{name}:{line}: this is no JSON", hint=_HINT)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _line_of_error(text: str) -> int:
    """Return where one document of JSON, over several lines perhaps, breaks off."""
    try:
        json.loads(text.rstrip())
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):  # too long a number, too deep a nesting
        pass
    return 1


def _requests(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _requests(one)
    elif isinstance(value, dict):
        for key in ("messages", "steps", "input"):
            if isinstance(value.get(key), list):
                yield from _requests(value[key])
        message = value.get("message")
        inner = message if isinstance(message, dict) else value
        if "user" in (inner.get("role"), value.get("source"), value.get("type")):
            said = inner.get("content", message)
            yield _said(said).strip()


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [one.get("text") for one in blocks if isinstance(one, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))

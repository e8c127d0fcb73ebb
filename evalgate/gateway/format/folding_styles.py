"""How servers write JSON: a parsed value can stand for bytes only when a style gives them back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from evalgate.core.json import Json

#: Deeper JSON is kept as text: recursion over it must be safe, also below other levels.
DEEPEST: Final = 100

#: The style that is not named in a folded value.
PLAIN: Final = "compact"

_SPACED = re.compile(rb'\{"(?:[^"\\]|\\.)*": ')
_GO = (("<", "003c"), (">", "003e"), ("&", "0026"), ("\u2028", "2028"), ("\u2029", "2029"))
_GOOGLE = _GO[:2]


def _python(comma: str, colon: str, *, ascii_only: bool) -> Callable[[Json], bytes]:
    encoder = json.JSONEncoder(ensure_ascii=ascii_only, separators=(comma, colon))
    return lambda value: encoder.encode(value).encode()


def _escaping(
    write: Callable[[Json], bytes], escapes: Sequence[tuple[str, str]]
) -> Callable[[Json], bytes]:
    """These characters stand only inside strings, so they are escaped in the whole text."""
    pairs = [(character.encode(), f"\\u{code}".encode()) for character, code in escapes]

    def written(value: Json) -> bytes:
        text = write(value)
        for character, escape in pairs:
            text = text.replace(character, escape)
        return text

    return written


def _indented(value: Json) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2)


#: Style -> what writes it. Compact is most servers; ``indented`` the plain replies of OpenAI.
STYLES: Final[Mapping[str, Callable[[Json], bytes]]] = {
    PLAIN: orjson.dumps,
    "compact-ascii": _python(",", ":", ascii_only=True),
    "go": _escaping(orjson.dumps, _GO),
    "python": _python(", ", ": ", ascii_only=True),
    "python-utf8": _python(", ", ": ", ascii_only=False),
    "google": _escaping(_python(",", ": ", ascii_only=False), _GOOGLE),
    "indented": _indented,
}

_TIGHT = (PLAIN, "compact-ascii", "go")
_LOOSE = ("python", "python-utf8", "google")


def style_of(text: bytes, value: Json) -> str | None:
    """Return the style that writes the value as this text, or None."""
    return next((name for name, write in STYLES.items() if write(value) == text), None)


def common_style(events: Sequence[tuple[bytes, Json]]) -> tuple[str, list[bool]]:
    """Return the style that fits most events of a stream, and which of them it fits."""
    best, most = PLAIN, [False] * len(events)
    # All events of a stream come from one writer: the first tells whether it spaces.
    for name in _LOOSE if events and _SPACED.match(events[0][0]) else _TIGHT:
        write = STYLES[name]
        fits = [write(value) == text for text, value in events]
        if sum(fits) > sum(most):
            best, most = name, fits
        if all(most):
            break
    return best, most


def parse_shallow(text: bytes) -> Any:
    """Return the JSON value; None for what is none, or is nested too deeply."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    # No depth without brackets: nearly all texts need no look at the value.
    if text.count(b"{") + text.count(b"[") > DEEPEST and not _is_shallow(value, DEEPEST):
        return None
    return value


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(one, levels - 1) for one in inner)

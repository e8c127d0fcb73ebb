"""Why a request in a replay matches nothing: the nearest recorded one, and where they differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from evalgate.core.exchange import Exchange, Miss
from evalgate.core.json import Json
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.matching import Keyed
from evalgate.gateway.reading import items, parse

SHOWN: Final = 120
_MOST = 8
_LEAD = 30
_DEEPEST = 100
_ABSENT: Final = object()


def explain(request: Keyed, recorded: Sequence[Exchange], played: AbstractSet[int]) -> Miss:
    """Return the miss of a request; ``played`` holds the indexes of what was already played.

    Both sides are in stored form, secrets and places replaced, so nothing new is shown.
    """
    twins = [index for index, one in enumerate(recorded) if one.key == request.key]
    if twins:
        return Miss(key=request.key, nearest=twins[-1], differs=(), played=True)
    if not recorded:
        return Miss(key=request.key, nearest=None, differs=())
    nearest = max(
        range(len(recorded)),
        key=lambda index: (*_likeness(request, recorded[index]), index not in played, -index),
    )
    return Miss(
        key=request.key,
        nearest=nearest,
        differs=tuple(_differences(request, recorded[nearest])),
    )


def _likeness(request: Keyed, exchange: Exchange) -> tuple[bool, int, int, int]:
    """Compare path, number of equal parts, equal messages from the first, and their number."""
    same_path = (request.dialect, request.path) == (exchange.dialect, exchange.path)
    dialect = DIALECTS[request.dialect]
    new = dialect.read_request(request.request).parts
    old = dialect.read_request(exchange.request).parts
    equal = sum(new.get(name) == old.get(name) for name in {*new, *old} if name != "messages")
    before, after = items(old, "messages"), items(new, "messages")
    prefix = _prefix(after, before)
    return same_path, equal + prefix, prefix, -abs(len(after) - len(before))


def _prefix(new: Sequence[Json], old: Sequence[Json]) -> int:
    length = 0
    while length < min(len(new), len(old)) and new[length] == old[length]:
        length += 1
    return length


def _differences(request: Keyed, exchange: Exchange) -> Iterator[str]:
    if request.path != exchange.path:
        yield _pair("path", exchange.path, request.path)
    new, old = parse(request.request), parse(exchange.request)
    if new is None or old is None:
        yield _pair("body", _decoded(exchange.request), _decoded(request.request))
        return
    found = list(_walk("", old, new, 0))
    if not found:
        # Equal for Python and yet another key: 1 and 1.0, or a body that is keyed by its bytes.
        yield _pair("body", _decoded(exchange.request), _decoded(request.request))
    yield from found[:_MOST]
    if len(found) > _MOST:
        yield f"and {len(found) - _MOST} more"


def _walk(path: str, old: object, new: object, depth: int) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping) and depth < _DEEPEST:
        for name in sorted({*old, *new}):
            inner = f"{path}.{name}" if path else str(name)
            yield from _walk(inner, old.get(name, _ABSENT), new.get(name, _ABSENT), depth + 1)
    elif isinstance(old, list) and isinstance(new, list) and depth < _DEEPEST:
        for index, (left, right) in enumerate(zip(old, new, strict=False)):
            yield from _walk(f"{path}[{index}]", left, right, depth + 1)
        if len(old) != len(new):
            yield f"{path}: recorded {len(old)} items, now {len(new)}"
    elif type(old) is not type(new) or old != new:
        yield _pair(path, old, new)


def _pair(path: str, old: object, new: object) -> str:
    left, right = _shown(old), _shown(new)
    start = max(0, _first_difference(left, right) - _LEAD)
    return f"{path}: recorded {_shortened(left, start)}, now {_shortened(right, start)}"


def _shown(value: object) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)


def _first_difference(left: str, right: str) -> int:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _shortened(text: str, start: int) -> str:
    if len(text) <= SHOWN:
        return text
    head = "…" if start else ""
    body = text[start:]
    room = SHOWN - len(head)
    return head + (body if len(body) <= room else body[: room - 1] + "…")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")

"""A request told by what it adds to an earlier one: conversations grow, cassettes need not.

A turn repeats the system prompt, the tools and all messages before it. In a cassette it names
the exchange it continues, the members that are the same, and how much of each list is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.reading import needed_list, needed_object

#: How many earlier requests are tried; side requests (titles, summaries) stand between turns.
_LOOK_BACK = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A request with each member as bytes, a list item by item: 1, 1.0 and true stay apart."""

    request: JsonObject
    pieces: Mapping[str, Sequence[bytes]]


def measure(request: JsonObject) -> Measured:
    """Prepare a request for `shorten`."""
    return Measured(request=request, pieces={key: _cut(request[key]) for key in request})


def shorten(new: Measured, earlier: Sequence[Measured | None]) -> JsonObject:
    """Return the request as a delta of one of the earlier ones, or whole when none is like it.

    ``earlier`` holds the requests before this one by index; None is one that is no JSON object.
    """
    best = _nearest(new, earlier)
    old = None if best is None else earlier[best]
    if best is None or old is None:
        return {"whole": new.request}
    same = [key for key, pieces in new.pieces.items() if pieces == old.pieces.get(key)]
    changed = [key for key in new.request if key not in same]
    keep = {key: kept for key in changed if (kept := _kept(new, old, key))}
    rest = {key: _after(new.request[key], keep.get(key, 0)) for key in changed}
    delta: dict[str, Json] = {"continues": best, "same": sorted(same), "set": rest}
    return {**delta, "keep": keep} if keep else delta


def restore(delta: JsonObject, earlier: Sequence[JsonObject | None]) -> JsonObject:
    """Return the request that `shorten` was given; TypeError or KeyError when it can not be."""
    if "whole" in delta:
        return needed_object(delta["whole"])
    index = delta["continues"]
    if not isinstance(index, int) or not 0 <= index < len(earlier):
        raise KeyError(index)
    base = needed_object(earlier[index])
    restored: dict[str, Json] = {str(key): base[str(key)] for key in needed_list(delta["same"])}
    keep = needed_object(delta.get("keep", {}))
    for key, value in needed_object(delta["set"]).items():
        kept = keep.get(key)
        if isinstance(kept, int):
            restored[key] = [*needed_list(base[key])[:kept], *needed_list(value)]
        else:
            restored[key] = value
    return restored


def _cut(value: Json) -> list[bytes]:
    if isinstance(value, list):
        return [b"[", *map(orjson.dumps, value)]
    return [orjson.dumps(value)]


def _nearest(new: Measured, earlier: Sequence[Measured | None]) -> int | None:
    best, most = None, 0
    for index in range(len(earlier) - 1, max(-1, len(earlier) - 1 - _LOOK_BACK), -1):
        old = earlier[index]
        if old is None:
            continue
        shared = sum(_shared(pieces, old.pieces.get(key, ())) for key, pieces in new.pieces.items())
        if shared > most:
            best, most = index, shared
    return best


def _shared(new: Sequence[bytes], old: Sequence[bytes]) -> int:
    return sum(map(len, new[: _prefix(new, old)]))


def _prefix(new: Sequence[bytes], old: Sequence[bytes]) -> int:
    length = 0
    while length < min(len(new), len(old)) and new[length] == old[length]:
        length += 1
    return length


def _kept(new: Measured, old: Measured, key: str) -> int:
    """Return how many items of a list are kept; the first piece is the bracket."""
    return max(0, _prefix(new.pieces[key], old.pieces.get(key, ())) - 1)


def _after(value: Json, kept: int) -> Json:
    return needed_list(value)[kept:] if kept else value

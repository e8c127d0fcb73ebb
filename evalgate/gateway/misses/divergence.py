"""Why a request in a replay matches nothing: the nearest recorded one, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from evalgate.core.exchange import Exchange, Miss
from evalgate.core.request import StoredRequest
from evalgate.core.worddiff import word_diff
from evalgate.gateway.dialects.dialect import ToolResult
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.misses.differences import Difference, differences, parts_of, same
from evalgate.gateway.reading import parse

_MOST: Final = 8

#: How many exchanges before the nearest are looked through for the call of an output.
_LOOK_BACK: Final = 8

_ORDER: Final = ("path", "query", "headers", "system", "tools", "messages", "parameters", "body")
_KINDS: Final = {
    "path": "another address was asked",
    "query": "the query of the address differs",
    "headers": "a header differs",
    "system": "the system prompt differs",
    "tools": "the tools differ",
    "parameters": "the parameters differ",
    "body": "the body differs",
}


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
    return _miss(request, recorded, nearest, list(differences(request, recorded[nearest])))


def _likeness(request: Keyed, exchange: Exchange) -> tuple[bool, int, int]:
    """Compare address, the number of equal members and items, and the lengths of lists.

    Items are compared place by place: a changed prompt that leads a conversation, or an output
    in the middle of it, does not hide how much of the rest is the same.
    """
    same_path = (request.dialect, request.path) == (exchange.dialect, exchange.path)
    equal, apart = _shared(request.request, exchange.request)
    return same_path, equal, -apart


def _shared(new: StoredRequest, old: StoredRequest) -> tuple[int, int]:
    equal, apart = 0, 0
    for name, member in new.members.items():
        other = old.members.get(name)
        if isinstance(member, tuple):
            rest = other if isinstance(other, tuple) else ()
            equal += sum(same(a, b) for a, b in zip(member, rest, strict=False))
            apart += abs(len(member) - len(rest))
        elif other is not None and not isinstance(other, tuple):
            equal += same(member, other)
    return equal, apart


def _miss(
    request: Keyed, recorded: Sequence[Exchange], nearest: int, found: Sequence[Difference]
) -> Miss:
    differing = {one.part for one in found}
    more = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    first = found[0] if found else None
    return Miss(
        key=request.key,
        nearest=nearest,
        differs=(*(one.line for one in found[:_MOST]), *more),
        equal=tuple(name for name in _ORDER if name in parts_of(request) - differing),
        differing=tuple(name for name in _ORDER if name in differing),
        path=first.path if first else "",
        tool=first.tool if first else "",
        words=word_diff(first.old, first.new) if first else "",
        kind=_kind(first, request, recorded, nearest) if first else "",
        recorded=first.old if first else "",
        now=first.new if first else "",
    )


def _kind(first: Difference, request: Keyed, recorded: Sequence[Exchange], nearest: int) -> str:
    """Say what a difference means, in a few words."""
    if first.tool:
        return f'the tool "{first.tool}" differs'
    if first.part != "messages":
        return _KINDS[first.part]
    if first.item is None:
        return "the conversation has another length"
    now = _said(request.request, request.dialect, first.item)
    calls = _other_outputs(_said(recorded[nearest].request, request.dialect, first.item), now)
    if calls is not None:
        before = recorded[max(0, nearest - _LOOK_BACK) : nearest]
        tools = dict.fromkeys(f'"{tool}"' for call in calls if (tool := _called(call, before)))
        return f"the output of a tool differs{': ' if tools else ''}{', '.join(tools)}"
    spoken = DIALECTS[request.dialect].is_spoken(parse(now.data))
    return "what the model said comes back changed" if spoken else "a message differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """One item of a conversation, and the tool results in it."""

    data: bytes
    results: tuple[ToolResult, ...]


def _said(request: StoredRequest, name: str, item: int) -> _Said:
    dialect = DIALECTS[name]
    member = request.members[dialect.conversation]
    data = member[item].data if isinstance(member, tuple) else member.data
    body = b'{"' + dialect.conversation.encode() + b'":[' + data + b"]}"
    return _Said(data=data, results=dialect.read_request(body).results)


def _other_outputs(old: _Said, new: _Said) -> list[str] | None:
    """Return the calls whose outputs differ; None when no output does."""
    if not new.results or len(new.results) != len(old.results):
        return None
    pairs = zip(old.results, new.results, strict=True)
    return [after.call_id for before, after in pairs if before != after] or None


def _called(call_id: str, before: Sequence[Exchange]) -> str:
    """Return the name of the tool that an output is of."""
    for exchange in reversed(before):
        for call in DIALECTS[exchange.dialect].read_reply(exchange.body).calls:
            if call.call_id == call_id:
                return call.name
    return ""

"""Where two requests differ: each leaf by its JSON path. What they share is not looked into."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evalgate.core.exchange import Exchange
from evalgate.core.request import Member, Piece
from evalgate.core.worddiff import common_prefix
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.reading import parse

#: A value in the line of a difference is no longer than this.
SHOWN: Final = 120

_LEAD: Final = 30
_DEEPEST: Final = 100
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One leaf: where it stands, both values as text, and a line for a person.

    ``part`` is system, tools, messages, parameters, headers, query, path or body; ``tool`` the
    name of the tool it is in, if any; ``item`` the place in the conversation, if it is there.
    """

    path: str
    part: str
    line: str
    old: str
    new: str
    tool: str = ""
    item: int | None = None


def differences(request: Keyed, exchange: Exchange) -> Iterator[Difference]:
    """Yield where a request differs from a recorded one, what is before its body first."""
    yield from _head(request, exchange)
    new, old = request.request, exchange.request
    if new.raw is not None or old.raw is not None:
        if new.data != old.data:
            yield _leaf("body", "body", _decoded(old.data), _decoded(new.data))
        return
    dialect = DIALECTS[request.dialect]
    for name in sorted({*old.members, *new.members}):
        yield from _member(dialect, name, old.members.get(name), new.members.get(name))


def parts_of(request: Keyed) -> set[str]:
    """Return the names of the parts that the body of a request has."""
    dialect = DIALECTS[request.dialect]
    found = set()
    for name, member in request.request.members.items():
        part = dialect.part_of(name)
        leading = member if isinstance(member, tuple) and name == dialect.conversation else ()
        values = (parse(piece.data) for piece in leading)
        for value in values:
            inner = dialect.part_of_item(value)
            found.add(inner)
            if inner == part:
                break
        if not leading:
            found.add(part)
    return found


def same(one: Piece, other: Piece) -> bool:
    """Tell whether two pieces are equal; in one conversation they are the same object."""
    return one is other or one.digest == other.digest


def _head(request: Keyed, exchange: Exchange) -> Iterator[Difference]:
    if request.path != exchange.path:
        yield _leaf("path", "path", exchange.path, request.path)
    if request.method != exchange.method:
        yield _leaf("method", "path", exchange.method, request.method)
    if request.query != exchange.query:
        yield _leaf("query", "query", exchange.query, request.query)
    for name in sorted(DIALECTS[request.dialect].headers):
        old, new = exchange.asked.get(name, _ABSENT), request.asked.get(name, _ABSENT)
        if old != new:
            yield _leaf(f"headers.{name}", "headers", old, new)


def _member(
    dialect: Dialect, name: str, old: Member | None, new: Member | None
) -> Iterator[Difference]:
    part = dialect.part_of(name)
    if isinstance(old, tuple) and isinstance(new, tuple):
        named = part == "tools" and old != new
        before, after = (_by_name(dialect, one) if named else {} for one in (old, new))
        if before and after:
            yield from _tools(name, before, after)
        else:
            yield from _items(dialect, name, old, new)
    elif isinstance(old, Piece) and isinstance(new, Piece):
        if not same(old, new):
            yield from _piece(name, part, old, new)
    else:
        yield from _walk(name, part, _value(old), _value(new), 0)


def _items(
    dialect: Dialect, name: str, old: Sequence[Piece], new: Sequence[Piece]
) -> Iterator[Difference]:
    """Yield what differs item by item, and then that there are more of them or fewer."""
    part = dialect.part_of(name)
    talk = name == dialect.conversation
    for index, (left, right) in enumerate(zip(old, new, strict=False)):
        if not same(left, right):
            inner = dialect.part_of_item(parse(right.data)) if talk else part
            for found in _piece(f"{name}[{index}]", inner, left, right):
                yield replace(found, item=index if talk else None)
    if len(old) != len(new):
        shared = min(len(old), len(new))
        yield _counted(
            name,
            part,
            [parse(piece.data) for piece in old[shared:]],
            [parse(piece.data) for piece in new[shared:]],
            shared,
        )


def _by_name(dialect: Dialect, tools: Sequence[Piece]) -> dict[str, tuple[int, Piece]]:
    """Return the tools by name, with their places; empty when a name is missing or used twice."""
    named = {dialect.tool_name(parse(piece.data)): (n, piece) for n, piece in enumerate(tools)}
    return named if len(named) == len(tools) and "" not in named else {}


def _tools(
    name: str, old: Mapping[str, tuple[int, Piece]], new: Mapping[str, tuple[int, Piece]]
) -> Iterator[Difference]:
    """Yield what differs tool by tool, so that one more does not move all behind it."""
    count = 0
    for tool in [*old, *(tool for tool in new if tool not in old)]:
        index, before = old.get(tool, (0, None))
        place, after = new.get(tool, (0, None))
        found: list[Difference] = []
        if before and after:
            path = f"{name}[{index}]"
            found += [] if same(before, after) else _piece(path, "tools", before, after)
        else:
            path = f"{name}[{index if before else place}]"
            found.append(_leaf(path, "tools", _value(before), _value(after)))
        count += len(found)
        yield from (_of_tool(one, tool) for one in found)
    if not count:
        yield _leaf(name, "tools", list(old), list(new))


def _of_tool(found: Difference, tool: str) -> Difference:
    path, colon, rest = found.line.partition(": ")
    start, bracket, inner = path.partition("]")
    label = f'{start}{bracket} "{tool}"{inner}{colon}{rest}'
    return replace(found, tool=tool, line=label)


def _piece(path: str, part: str, old: Piece, new: Piece) -> Iterator[Difference]:
    """Yield the leaves; two pieces may be equal for Python and yet differ: 1 and 1.0."""
    found = list(_walk(path, part, parse(old.data), parse(new.data), 0))
    yield from found or [_leaf(path, part, _decoded(old.data), _decoded(new.data))]


def _walk(path: str, part: str, old: object, new: object, depth: int) -> Iterator[Difference]:
    if isinstance(old, Mapping) and isinstance(new, Mapping) and depth < _DEEPEST:
        for name in sorted({*old, *new}):
            left, right = old.get(name, _ABSENT), new.get(name, _ABSENT)
            yield from _walk(f"{path}.{name}", part, left, right, depth + 1)
    elif isinstance(old, list) and isinstance(new, list) and depth < _DEEPEST:
        shared = min(len(old), len(new))
        for index in range(shared):
            yield from _walk(f"{path}[{index}]", part, old[index], new[index], depth + 1)
        if len(old) != len(new):
            yield _counted(path, part, old[shared:], new[shared:], shared)
    elif type(old) is not type(new) or old != new:
        yield _leaf(path, part, old, new)


def _counted(
    path: str, part: str, old: Sequence[object], new: Sequence[object], shared: int
) -> Difference:
    """Return that a list has more items than the other, after those both have."""
    return Difference(
        path=path,
        part=part,
        line=f"{path}: recorded {shared + len(old)} items, now {shared + len(new)}",
        old=_written(old[0]) if old else "",
        new=_written(new[0]) if new else "",
    )


def _leaf(path: str, part: str, old: object, new: object) -> Difference:
    left, right = _shown(old), _shown(new)
    start = max(0, common_prefix(left, right) - _LEAD)
    line = f"{path}: recorded {_shortened(left, start)}, now {_shortened(right, start)}"
    return Difference(path=path, part=part, line=line, old=_written(old), new=_written(new))


def _value(member: Member | None) -> object:
    if member is None:
        return _ABSENT
    if isinstance(member, Piece):
        return parse(member.data)
    return [parse(piece.data) for piece in member]


def _written(value: object) -> str:
    """Return a value as its words: a string as it is, nothing as nothing."""
    if isinstance(value, str):
        return value
    return "" if value is _ABSENT else json.dumps(value, ensure_ascii=False)


def _shown(value: object) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)


def _shortened(text: str, start: int) -> str:
    if len(text) <= SHOWN:
        return text
    head = "…" if start else ""
    body = text[start:]
    room = SHOWN - len(head)
    return head + (body if len(body) <= room else body[: room - 1] + "…")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")

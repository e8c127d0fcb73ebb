"""Conversations that grow at their end: what was read of one is not read again.

Most clients send the body of the last turn once more, byte for byte, with new items at the end
of the conversation. Then only these items are parsed. This is exact, not a guess: the split is
taken where the text before it, closed by ``]}``, was parsed as an object whose last member is the
whole conversation, so that what comes next can only be further items of it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from evalgate.core.json import Json
from evalgate.core.request import Member, Piece, StoredRequest
from evalgate.gateway.keys.canonical import decode_exactly

#: Side conversations (titles, summaries, sub-agents) stand between the turns of the main one.
_MOST: Final = 4

#: Dialect and path: bodies of two APIs are never compared.
Where = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """A body, cut in its conversation: ``before`` ends after an item, the last one or that before.

    It is cut before the last item where that can be told, since clients mark their newest
    message and take the mark away in the next turn. ``after`` begins with the bracket that
    closes the conversation; ``members`` hold the items that stand in ``before``.
    """

    where: Where
    name: str
    before: bytes
    after: bytes
    members: Mapping[str, Member]

    @property
    def items(self) -> tuple[Piece, ...]:
        """The conversation so far."""
        member = self.members[self.name]
        return member if isinstance(member, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """How a body ends: ``after`` its conversation, whose ``last`` item is given as compact JSON."""

    name: str
    after: bytes
    last: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a body adds to a conversation that is known; ``last`` of it is compact JSON."""

    split: _Split
    body: bytes
    added: list[Json]
    last: bytes

    def request(self, pieces: tuple[Piece, ...]) -> StoredRequest:
        """Return the whole request; ``pieces`` are those of ``added`` in stored form."""
        split = self.split
        return StoredRequest(members={**split.members, split.name: (*split.items, *pieces)})


class Conversations:
    """The newest conversations of one trial."""

    def __init__(self) -> None:
        """Know none."""
        self._growing: deque[_Split] = deque(maxlen=_MOST)
        self._seen: deque[_Split] = deque(maxlen=_MOST)

    def find(self, where: Where, body: bytes) -> Growth | None:
        """Return what a body adds to one of them; None when it continues none."""
        for split in reversed(self._growing):
            if split.where == where and body.startswith(split.before):
                added = _added(split, body)
                if added is not None:
                    last = orjson.dumps(added[-1]) if added else b""
                    return Growth(split=split, body=body, added=added, last=last)
        return None

    def grow(self, growth: Growth, request: StoredRequest) -> None:
        """Take a conversation as far as this request has brought it."""
        old = growth.split
        end = len(growth.body) - len(old.after)
        self._growing.remove(old)
        self._growing.append(
            _split(old.where, old.name, growth.body[:end], old.after, request.members, growth.last)
        )

    def note(self, where: Where, body: bytes, tail: Tail, request: StoredRequest) -> None:
        """Keep a body that continued none; the second of its kind starts a conversation."""
        if tail.name not in request.members:
            return
        end = len(body) - len(tail.after)
        split = _split(where, tail.name, body[:end], tail.after, request.members, tail.last)
        grown = next(
            (o for o in self._seen if o.where == where and body.startswith(o.before)), None
        )
        if grown is None:
            self._seen.append(split)
        elif _is_whole(split):
            self._seen.remove(grown)
            self._growing.append(split)


def tail_of(body: bytes, value: Mapping[str, Json], name: str) -> Tail | None:
    """Return how a body ends, from the last item of its conversation ``name``.

    ``value`` is the parsed body, its members in their order. None when the conversation is no
    list, or the body is not written in one of the two usual styles.
    """
    said = value.get(name)
    if not isinstance(said, list):
        return None
    order = list(value)
    later = {key: value[key] for key in order[order.index(name) + 1 :]}
    last = orjson.dumps(said[-1]) if said else b""
    compact = b"]" + (b"," + orjson.dumps(later)[1:] if later else b"}")
    if body.endswith(compact):
        return Tail(name=name, after=compact, last=last)
    spaced = b"]" + (b", " + json.dumps(later).encode()[1:] if later else b"}")
    if not body.endswith(spaced):
        return None
    return Tail(name=name, after=spaced, last=last)


def _split(
    where: Where,
    name: str,
    before: bytes,
    after: bytes,
    members: Mapping[str, Member],
    last: bytes,
) -> _Split:
    """Cut before the ``last`` item when it stands at the end as compact JSON."""
    items = members[name]
    shorter = before[: -len(last)].rstrip() if last and before.endswith(last) else b""
    if isinstance(items, tuple) and items and shorter.endswith((b",", b"[")):
        before, members = shorter.removesuffix(b","), {**members, name: items[:-1]}
    return _Split(where=where, name=name, before=before, after=after, members=members)


def _added(split: _Split, body: bytes) -> list[Json] | None:
    if len(body) < len(split.before) + len(split.after) or not body.endswith(split.after):
        return None
    middle = body[len(split.before) : len(body) - len(split.after)].strip()
    if not middle:
        return []
    if split.items:
        if not middle.startswith(b","):
            return None
        middle = middle[1:]
    exact, added = decode_exactly(b"[" + middle + b"]")
    return added if exact and isinstance(added, list) and added else None


def _is_whole(split: _Split) -> bool:
    exact, value = decode_exactly(split.before + b"]}")
    if not exact or not isinstance(value, dict) or not value:
        return False
    last = value[next(reversed(value))]
    same = next(reversed(value)) == split.name and isinstance(last, list)
    return same and len(last) == len(split.items)

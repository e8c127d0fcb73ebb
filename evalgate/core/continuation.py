"""What a request adds to an earlier one: a conversation repeats itself, and grows at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.core.request import Member, Piece, StoredRequest

#: How many earlier requests are tried; side requests (titles, summaries) stand between turns.
_LOOK_BACK = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """A request as one that goes on from another.

    ``base`` is the index of the earlier request, None when it shares nothing with those before
    it; ``without`` names the members that are gone; ``kept`` says how many items of a list are
    as before; ``added`` holds, by name in order, what is new: a value, or the items that follow.
    """

    base: int | None = None
    without: tuple[str, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    added: Mapping[str, Member] = field(default_factory=dict)


def continuation_of(request: StoredRequest, earlier: Sequence[StoredRequest]) -> Continuation:
    """Return what a request adds to the nearest of those before it; nothing for a raw body."""
    if request.raw is not None:
        return Continuation()
    base = _nearest(request, earlier)
    old: Mapping[str, Member] = {} if base is None else earlier[base].members
    kept: dict[str, int] = {}
    added: dict[str, Member] = {}
    for name, member in sorted(request.members.items()):
        before = old.get(name)
        if member == before:
            continue
        added[name] = member
        if (
            isinstance(member, tuple)
            and isinstance(before, tuple)
            and (n := _prefix(member, before))
        ):
            kept[name], added[name] = n, member[n:]
    without = tuple(sorted(old.keys() - request.members.keys()))
    return Continuation(base=base, without=without, kept=kept, added=added)


def _nearest(request: StoredRequest, earlier: Sequence[StoredRequest]) -> int | None:
    best, most = None, 0
    for index in range(len(earlier) - 1, max(-1, len(earlier) - 1 - _LOOK_BACK), -1):
        old = earlier[index].members
        shared = sum(_shared(member, old.get(name)) for name, member in request.members.items())
        if shared > most:
            best, most = index, shared
    return best


def _shared(new: Member, old: Member | None) -> int:
    if isinstance(new, Piece):
        return len(new.data) if new == old else 0
    if not isinstance(old, tuple):
        return 0
    return sum(len(piece.data) for piece in new[: _prefix(new, old)])


def _prefix(new: Sequence[Piece], old: Sequence[Piece]) -> int:
    pairs = zip(new, old, strict=False)
    differing = (n for n, (one, other) in enumerate(pairs) if one is not other and one != other)
    return next(differing, min(len(new), len(old)))

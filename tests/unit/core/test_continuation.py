"""What a turn adds to the one before it."""

from __future__ import annotations

from evalgate.core.continuation import Continuation, continuation_of
from evalgate.core.request import Piece, StoredRequest


def request(*messages: str, **members: str) -> StoredRequest:
    """Return a request of these messages and members."""
    single = {name: Piece.of(f'"{value}"'.encode()) for name, value in members.items()}
    said = tuple(Piece.of(f'"{one}"'.encode()) for one in messages)
    return StoredRequest(members={"messages": said, **single})


def test_a_turn_adds_its_messages_to_the_nearest_request():
    """Of the four before it: titles and summaries stand between."""
    first = request("a", "b", system="long enough to be near", tools="t")
    side = request("make a title")
    turn = request("a", "b", "c", "d", system="long enough to be near")
    told = continuation_of(turn, [first, side])
    assert (told.base, told.without, told.kept) == (0, ("tools",), {"messages": 2})
    assert told.added == {"messages": request("c", "d").members["messages"]}


def test_what_has_nothing_in_common_begins_anew():
    """All of it is added, in the order of names."""
    told = continuation_of(request("x", system="s"), [request("a", system="other")])
    assert (told.base, told.kept, list(told.added)) == (None, {}, ["messages", "system"])


def test_a_raw_body_goes_on_from_nothing():
    """It has no members."""
    assert continuation_of(StoredRequest(raw=b"x"), [request("a")]) == Continuation()

"""Every piece of a conversation stands in a cassette once."""

from __future__ import annotations

import orjson
import pytest

from evalgate.core.request import Piece, StoredRequest, distinct
from evalgate.gateway.format.parts import PartsReader, PartsWriter


def request(**members) -> StoredRequest:
    """Return a request of these members; lists item by item."""
    return StoredRequest(
        members={
            name: tuple(map(piece, value)) if isinstance(value, list) else piece(value)
            for name, value in members.items()
        }
    )


def piece(value) -> Piece:
    """Return a value as a piece."""
    return Piece.of(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


TURNS = [
    request(system="be brief", tools=["t1", "t2"], messages=["one"]),
    request(messages=["name this chat"], model="small"),
    request(system="be brief", tools=["t1", "t2"], messages=["one", "two", "three"]),
    StoredRequest(raw=b"\xff no JSON"),
    StoredRequest(raw=b"a\nb"),
    request(system="be brief", tools=["t1"], messages=["one", "2", "three"]),
    request(messages=[]),
    request(messages={"not": "a list"}, deep={"$json": 1, "$lines": ["x"]}),
    StoredRequest(),
]


def test_what_is_written_is_read():
    """Side requests, a list that became a value, an item changed in the middle, raw bytes."""
    writer = PartsWriter()
    entries = [writer.add(one) for one in TURNS]
    reader = PartsReader(orjson.loads(orjson.dumps(writer.parts)))
    assert [reader.take(orjson.loads(orjson.dumps(one))) for one in entries] == TURNS


def test_a_turn_names_only_what_it_adds():
    """The side request between two turns changes nothing of that."""
    writer = PartsWriter()
    entries = [writer.add(one) for one in TURNS[:3]]
    assert entries[2] == {"continues": 0, "members": {"messages": {"keep": 1, "add": [2, 3]}}}
    assert writer.parts["messages"] == ["one", "name this chat", "two", "three"]
    assert writer.parts["system"] == ["be brief"]


def test_pieces_that_were_read_are_shared():
    """A tape of a hundred turns holds its prompt once."""
    writer = PartsWriter()
    entries = [writer.add(TURNS[0]), writer.add(TURNS[2])]
    reader = PartsReader(writer.parts)
    one, other = map(reader.take, entries)
    assert one.members["system"] is other.members["system"]
    assert one.members["messages"][0] is other.members["messages"][0]


def test_a_piece_nested_beyond_measure_is_kept_as_text():
    """Deeper than any tool would show it."""
    deep = b"[" * 240 + b"]" * 240
    one = StoredRequest(members={"messages": (Piece.of(deep),)})
    writer = PartsWriter()
    entry = writer.add(one)
    assert PartsReader(writer.parts).take(entry) == one


def test_distinct_pieces_are_each_named_once():
    """What is looked through for secrets before a file is written."""
    found = [piece.data for piece in distinct(TURNS)]
    assert len(found) == len(set(found))
    assert b'"be brief"' in found


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"raw": 1},
        {"base64": "?"},
        {"members": 1},
        {"members": {"system": 9}},
        {"members": {"system": -1}},
        {"members": {"system": True}},
        {"members": {"other": 0}},
        {"continues": 0, "members": {}},
        {"without": ["a"], "members": {}},
        {"members": {"messages": {"add": ["x"]}}},
        {"members": {"messages": {"keep": 1}}},
    ],
)
def test_a_damaged_entry_is_one_of_three_errors(entry):
    """Those that the reading of a file turns into words."""
    with pytest.raises((TypeError, ValueError, LookupError)):
        PartsReader({"system": ["s"], "messages": []}).take(entry)

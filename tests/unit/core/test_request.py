"""A request in pieces says what the whole one did, and its digest is of all of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.request import Piece, StoredRequest, distinct

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)
bodies = st.dictionaries(st.text(max_size=4), values, max_size=4)


def canonical(value):
    """Return canonical JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def piece(value):
    """Return a piece."""
    return Piece.of(canonical(value))


def stored(body):
    """Return a body in pieces, lists item by item."""
    return StoredRequest(
        members={
            name: tuple(map(piece, value)) if isinstance(value, list) else piece(value)
            for name, value in body.items()
        }
    )


@given(bodies)
def test_the_data_is_the_canonical_body(body):
    """Byte for byte, whatever the order in which the members came."""
    turned = dict(reversed(body.items()))
    assert stored(body).data == stored(turned).data == canonical(body)
    assert stored(body).digest() == stored(turned).digest()


@given(bodies, bodies)
def test_other_bodies_have_other_digests(one, other):
    """And equal ones the same."""
    equal = canonical(one) == canonical(other)
    assert (stored(one).digest() == stored(other).digest()) is equal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": []}, {}),
        ({"a": [[]]}, {"a": []}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1], "b": []}, {"a": [], "b": [1]}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({"ab": 1}, {"a": 1}),
    ],
)
def test_where_a_piece_stands_belongs_to_the_digest(one, other):
    """Not only which pieces there are."""
    assert stored(one).digest() != stored(other).digest()


def test_a_list_is_not_the_same_list_as_one_piece():
    """How it was cut is part of how it is kept."""
    whole = StoredRequest(members={"a": piece([1])})
    assert whole.data == stored({"a": [1]}).data
    assert whole.digest() != stored({"a": [1]}).digest()


@pytest.mark.parametrize("raw", [b"", b"{}", b"\xff", b'{"a":1,"a":2}'])
def test_a_raw_body_is_its_bytes(raw):
    """It never meets an object, not even one that is written the same."""
    request = StoredRequest(raw=raw)
    assert request.data == request.only("model") == raw
    assert request.digest() != stored({}).digest()
    assert request.digest() != StoredRequest(raw=raw + b" ").digest()


def test_one_member_can_be_read_without_the_rest():
    """As JSON of its own; one that is not there is left out."""
    request = stored({"model": "é", "messages": [1, {"b": 2}], "x": None})
    assert request.only("model") == '{"model":"é"}'.encode()
    assert request.only("messages") == b'{"messages":[1,{"b":2}]}'
    assert request.only("nothing") == b"{}"


def test_pieces_that_requests_share_are_told_once():
    """In the order in which they are first met."""
    first, second = stored({"a": [1, 2], "b": 3}), stored({"a": [1, 2, 4, 1], "b": 3})
    raw = StoredRequest(raw=b"x")
    assert [one.data for one in distinct([first, raw, second])] == [b"1", b"2", b"3", b"4"]

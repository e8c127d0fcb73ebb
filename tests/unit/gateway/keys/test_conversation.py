"""A grown conversation is read from where it grew, and is the same as if it were read whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying

SPOKEN = DIALECTS["anthropic"]
STYLES = {
    "compact": {"separators": (",", ":"), "ensure_ascii": False},
    "spaced": {},
    "odd": {"separators": (" ,", " : ")},
}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['"]}', "],", "]", '\\"', "\n", '{"messages":[', "é"]
)
blocks = st.dictionaries(texts, st.integers() | texts | st.lists(texts, max_size=2), max_size=2)
items = texts | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | blocks
extras = st.dictionaries(texts.filter(lambda name: name != "messages"), items, max_size=3)


def keying() -> Keying:
    """Return a fresh one, that knows no conversation."""
    return Keying(Cleaner(redactor=Redactor({}), places={}))


def spoken(body: bytes, known: Keying | None = None) -> str:
    """Return the key of a body."""
    return (known or keying()).keyed(SPOKEN, "POST", "/v1/messages", body).key


class Counting(Cleaner):
    """Counts the pieces that are looked at."""

    pieces_seen = 0

    def piece(self, data, dialect):
        self.pieces_seen += 1
        return super().piece(data, dialect)


def counting() -> Keying:
    """Return a fresh one whose cleaner counts."""
    return Keying(Counting(redactor=Redactor({}), places={}))


def grows(body: bytes, known: Keying) -> bool:
    """Key a body, and tell whether less of it was looked at than by one who knows nothing."""
    fresh = counting()
    before = known.cleaner.pieces_seen
    assert spoken(body, known) == spoken(body, fresh)
    return known.cleaner.pieces_seen - before < fresh.cleaner.pieces_seen


@given(extras, extras, st.lists(items, max_size=6), st.sampled_from(sorted(STYLES)), st.data())
def test_growing_gives_the_keys_of_reading_whole(before, after, said, style, data):
    """Whatever stands before and after the conversation, in any style, in any growth."""
    known = keying()
    length = 0
    while length <= len(said):
        body = json.dumps({**before, "messages": said[:length], **after}, **STYLES[style]).encode()
        whole = keying().keyed(SPOKEN, "POST", "/v1/messages", body)
        grown = known.keyed(SPOKEN, "POST", "/v1/messages", body)
        assert (grown.key, grown.request) == (whole.key, whole.request)
        length += data.draw(st.integers(0 if length else 1, 2)) or 1


@pytest.mark.parametrize("style", ["compact", "spaced"])
@pytest.mark.parametrize("last", [True, False])
def test_from_the_third_turn_on_only_the_new_items_are_read(style, last):
    """The second one shows that the client repeats its bytes."""
    grown = []
    known = counting()
    for turn in range(1, 6):
        said = [{"role": "user", "content": f"number {n}"} for n in range(turn)]
        parts = {"model": "m", "messages": said} if last else {"messages": said, "model": "m"}
        grown.append(grows(json.dumps(parts, **STYLES[style]).encode(), known))
    assert grown == [False, False, True, True, True]


def test_conversations_side_by_side_are_told_apart():
    """A sub-agent's turns between those of the main one cost nothing."""
    grown = []
    known = counting()
    for turn in range(1, 5):
        for system in ("main", "side"):
            said = [f"{system} {n}" for n in range(turn)]
            body = json.dumps({"system": system, "messages": said}).encode()
            grown.append(grows(body, known))
    assert grown == [False] * 4 + [True] * 4


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages":["a","b"],"model":"n"}',
        b'{"messages":["a","b"]],"model":"m"}',
        b'{"messages":["a","b"],"messages":["c"],"model":"m"}',
        b'{"messages":["a","b","c"],"x":["d"],"model":"m"}',
        b'{"messages":["a","b"] "c"],"model":"m"}',
        b'{"messages":["a","b",],"model":"m"}',
        b'{"messages":["a","b",12345678901234567890123],"model":"m"}',
        b'{"messages":["a","b",{"n":1,"n":2}],"model":"m"}',
        b'{"messages":["a","bc"],"model":"m"}',
        b'{"messages":["a"],"model":"m"}',
    ],
)
def test_what_only_looks_like_growth_is_read_whole(body):
    """Also where the text would fit and the meaning would not."""
    known = keying()
    for start in (b'{"messages":["a"],"model":"m"}', b'{"messages":["a","b"],"model":"m"}'):
        spoken(start, known)
        spoken(start, known)
    assert spoken(body, known) == spoken(body)


@pytest.mark.parametrize("style", ["compact", "spaced"])
def test_a_mark_that_moves_to_the_newest_message_costs_nothing(style):
    """As clients mark what the provider may keep; the mark is not part of the key."""
    grown = []
    known = counting()
    for turn in range(1, 7):
        said = [{"content": [{"type": "text", "text": f"number {n}"}]} for n in range(turn)]
        said[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
        body = json.dumps({"messages": said, "model": "m"}, **STYLES[style]).encode()
        grown.append(grows(body, known))
    assert sum(grown) == (4 if style == "compact" else 0)

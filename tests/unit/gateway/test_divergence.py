"""A miss names the exchange that came nearest, and where it differs."""

from __future__ import annotations

import json

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.divergence import SHOWN, explain
from evalgate.gateway.matching import keyed


def request(body, path="/v1/messages"):
    """Return a request in stored form."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    redactor = Redactor({"TOKEN": "hunter2hunter2"})
    return keyed(DIALECTS["anthropic"], "POST", path, data, redactor=redactor, places={})


def recorded(*bodies):
    """Return recorded exchanges of these requests."""
    found = map(request, bodies)
    return [
        Exchange(dialect="anthropic", method="POST", path=r.path, request=r.request, key=r.key,
                 status=200)
        for r in found
    ]  # fmt: skip


def say(*texts, **more):
    """Return a conversation."""
    return {"system": "s", "messages": [{"content": text} for text in texts], **more}


def test_nothing_recorded():
    """There is nothing to compare with."""
    miss = explain(request(say("a")), [], frozenset())
    assert (miss.nearest, miss.differs, miss.played) == (None, (), False)
    assert "nothing was recorded" in miss.sentence


def test_already_played():
    """The last of the equal ones is named."""
    tape = recorded(say("a"), say("a"), say("b"))
    miss = explain(request(say("a")), tape, frozenset({0, 1}))
    assert (miss.nearest, miss.played) == (1, True)


def test_the_nearest_has_the_longest_common_conversation():
    """A changed tool output is compared with the turn it belongs to."""
    tape = recorded(say("a"), say("a", "b"), say("a", "b", "c"), say("x", "y", "z"))
    miss = explain(request(say("a", "b", "C")), tape, frozenset({0, 1}))
    assert miss.nearest == 2
    assert miss.differs == ('messages[2].content: recorded "c", now "C"',)


def test_a_changed_part_does_not_hide_the_turn():
    """With another system prompt the first request is compared with the first."""
    tape = recorded(say("a"), say("a", "b"))
    miss = explain(request(say("a", system="t", temperature=1)), tape, frozenset())
    assert miss.nearest == 0
    assert miss.differs == (
        'system: recorded "s", now "t"',
        "temperature: recorded nothing, now 1",
    )


def test_long_values_are_shown_where_they_differ():
    """Both values, at most as long as allowed, with the difference in sight."""
    old = "x" * 500 + "old" + "y" * 500
    new = "x" * 500 + "new" + "y" * 500
    (difference,) = explain(request(say(new)), recorded(say(old)), frozenset()).differs
    left, right = difference.split(": recorded ")[1].split(", now ")
    assert "old" in left
    assert "new" in right
    assert max(len(left), len(right)) <= SHOWN


def test_a_secret_is_not_shown():
    """Both sides are in stored form."""
    miss = explain(request(say("hunter2hunter2")), recorded(say("a")), frozenset())
    assert miss.differs == ('messages[0].content: recorded "a", now "<secret:TOKEN>"',)


def test_many_differences_are_counted():
    """A report stays short."""
    miss = explain(request(say(*"abcdefghijkl")), recorded(say(*"ABCDEFGHIJKL")), frozenset())
    assert len(miss.differs) == 9
    assert miss.differs[-1] == "and 4 more"


def test_lists_of_other_length_types_and_no_json():
    """Whatever differs, something is named."""
    longer = explain(request(say("a", "b")), recorded(say("a")), frozenset())
    assert longer.differs == ("messages: recorded 1 items, now 2",)
    typed = explain(request({"a": True}), recorded({"a": 1}), frozenset())
    assert typed.differs == ("a: recorded 1, now true",)
    raw = explain(request(b"\xffnew"), recorded(b"\xffold"), frozenset())
    assert raw.differs == ('body: recorded "\\\\xffold", now "\\\\xffnew"',)
    twice = explain(request(b'{"a":1,"a":2}'), recorded({"a": 2}), frozenset())
    assert twice.differs[0].startswith("body: ")
    other = explain(request({}, "/v1/messages/count_tokens"), recorded({}), frozenset())
    assert other.differs[0].startswith("path: ")


def test_deep_nesting_is_compared_as_one_value():
    """No input ends Python's stack."""
    deep, other = b"[" * 900 + b"]" * 900, b"[" * 900 + b"1" + b"]" * 900
    assert explain(request(deep), recorded(other), frozenset()).differs

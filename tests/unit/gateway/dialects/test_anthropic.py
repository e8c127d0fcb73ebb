"""The messages API beside its messages."""

from __future__ import annotations

import json

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.table import DIALECTS

ANTHROPIC = DIALECTS["anthropic"]


def test_the_parts_of_a_request():
    """A prompt is a string or blocks; what is not there is no part."""
    body = {"model": "m", "system": "s", "messages": [1], "max_tokens": 5}
    read = ANTHROPIC.read_request(json.dumps(body).encode())
    assert read.parts == {
        "system": "s",
        "messages": [1],
        "parameters": {"model": "m", "max_tokens": 5},
    }


def test_counting_and_listing_are_read_as_no_answer(wire_body):
    """They are recorded like any exchange."""
    for file in ("anthropic-count.json", "anthropic-models.json"):
        reply = ANTHROPIC.read_reply(wire_body(file))
        assert (reply.finished, reply.error, reply.usage) == (False, None, Usage())


def test_marks_of_the_cache_are_dropped_wherever_the_api_takes_them():
    """And nowhere else: a tool may have a parameter of that name."""
    places = {drop.path[:-1] for drop in ANTHROPIC.drops if drop.path[-1] == "cache_control"}
    assert places == {
        (),
        ("system", "*"),
        ("tools", "*"),
        ("messages", "*", "content", "*"),
        ("messages", "*", "content", "*", "content", "*"),
        ("messages", "*", "content", "*", "source", "content", "*"),
    }

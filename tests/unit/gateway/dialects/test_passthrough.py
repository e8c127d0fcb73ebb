"""What no dialect knows is kept whole and hardly read."""

from __future__ import annotations

import json

import pytest

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.table import DIALECTS

PLAIN = DIALECTS["passthrough"]


@pytest.mark.parametrize("value", [{"model": "m", "input": "x"}, [1, 2], "text", 0])
def test_all_of_a_request_is_parameters(value):
    """Nobody knows what its members mean."""
    assert PLAIN.read_request(json.dumps(value).encode()).parts == {"parameters": value}
    assert PLAIN.read_request(b"\xff").parts == {}


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 8, "total_tokens": 8}, (8, 0)),
        ({"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}, (8, 2)),
        ({"prompt_tokens": 8}, (8, None)),
        ({"input_tokens": 8, "output_tokens": 2}, (None, None)),
    ],
)
def test_a_usage_is_read_only_where_it_has_one_meaning(usage, counts):
    """By other names it may or may not hold what came from a cache."""
    body = {"data": [], "model": "m", "usage": usage}
    streamed = f"data: {json.dumps({})}\n\ndata: {json.dumps(body)}\n\ndata: [DONE]\n\n"
    for data in (json.dumps(body), streamed):
        reply = PLAIN.read_reply(data.encode())
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == counts
        assert (reply.model, reply.finished) == ("m", True)


def test_what_is_no_json_says_nothing():
    """Files and sounds."""
    reply = PLAIN.read_reply(b"RIFF\x00\x00WAVE")
    assert (reply.finished, reply.error, reply.usage) == (False, None, Usage())

"""Chat completions, and the servers that speak them with an accent."""

from __future__ import annotations

import json

import pytest

from evalgate.gateway.dialects.table import DIALECTS

CHAT = DIALECTS["openai-chat"]


def chunk(delta, finish=None):
    """Return a chunk of a stream."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_parallel_calls_that_all_have_the_index_zero(stream):
    """Some servers send each call whole, with an id of its own."""
    calls = [
        {"index": 0, "id": one, "function": {"name": one, "arguments": '{"x":1}'}} for one in "ab"
    ]
    again = {"index": 0, "id": "b", "function": {"arguments": ""}}
    body = stream(*(chunk({"tool_calls": [one]}) for one in (*calls, again)), chunk({}, "stop"))
    assert [(c.call_id, c.name, c.input) for c in CHAT.read_reply(body).calls] == [
        ("a", "a", {"x": 1}),
        ("b", "b", {"x": 1}),
    ]


def test_a_custom_tool_takes_text(stream):
    """Not JSON, also where it looks like it."""
    custom = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "[1]"}}
    message = {"choices": [{"message": {"tool_calls": [custom]}, "finish_reason": "tool_calls"}]}
    pieces = (
        {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": "["}},
        {"index": 0, "custom": {"input": "1]"}},
    )
    streamed = stream(*(chunk({"tool_calls": [one]}) for one in pieces), chunk({}, "tool_calls"))
    for body in (json.dumps(message).encode(), streamed):
        (call,) = CHAT.read_reply(body).calls
        assert (call.name, call.call_id, call.input) == ("sql", "a", "[1]")


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        # Reasoning inside the completion, and beside it.
        (
            {"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135,
             "completion_tokens_details": {"reasoning_tokens": 94}},
            (32, 103, 0),
        ),
        (
            {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135,
             "completion_tokens_details": {"reasoning_tokens": 94}},
            (32, 103, 0),
        ),
        # Two servers' own names for what came from the cache.
        ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}, (2, 1, 8)),
        ({"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 8}, (2, 1, 8)),
        # The same count by two names is one.
        (
            {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 8,
             "prompt_tokens_details": {"cached_tokens": 8}},
            (2, 1, 8),
        ),
        ({"prompt_tokens": 10}, (10, None, 0)),
        ({"prompt_tokens": True, "completion_tokens": 1}, (None, None, None)),
    ],
)  # fmt: skip
def test_tokens_are_counted_once(usage, counts):
    """Whatever a server calls them."""
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    read = CHAT.read_reply(json.dumps(body).encode()).usage
    assert (read.input_tokens, read.output_tokens, read.cache_read_tokens) == counts

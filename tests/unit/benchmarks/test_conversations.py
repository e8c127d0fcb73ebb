"""The traffic that benchmarks are made of is what they say it is."""

from __future__ import annotations

import statistics
from dataclasses import replace

import orjson
import pytest

from benchmarks.conversations import Suite
from evalgate.gateway.dialects.table import DIALECTS

SMALL = Suite(tasks=2, trials=2)


@pytest.fixture(scope="module")
def conversations():
    return list(SMALL.conversations())


def test_requests_grow_and_are_150_kb_on_average(conversations):
    sizes = [[len(one.request(turn)) for turn in range(30)] for one in conversations]
    assert all(row == sorted(row) for row in sizes)
    assert statistics.mean(map(statistics.mean, sizes)) == pytest.approx(150_000, rel=0.05)


def test_each_request_holds_the_reply_before_it(conversations):
    """What the model said and asked for is in the next request as clients send it."""
    dialect = DIALECTS["anthropic"]
    for one in conversations:
        for turn, reply in enumerate(one.replies[:-1]):
            said = dialect.read_reply(reply)
            messages = orjson.loads(one.request(turn + 1))["messages"]
            text, use = messages[-2]["content"]
            (call,) = said.calls
            assert (text["text"], use["input"]) == (said.text, call.input)
            assert messages[-1]["content"][-1]["tool_use_id"] == call.call_id
        last = dialect.read_reply(one.replies[-1])
        assert (last.finished, last.calls) == (True, ())


def test_a_reply_is_5_kb_of_some_forty_events(conversations):
    replies = [reply for one in conversations for reply in one.replies]
    assert statistics.mean(map(len, replies)) == pytest.approx(5000, rel=0.2)
    assert statistics.mean(one.count(b"event: ") for one in replies) == pytest.approx(37, abs=8)


def test_equal_suites_are_equal_and_trials_differ(conversations):
    again = list(SMALL.conversations())
    assert again == conversations
    assert len({one.messages for one in conversations}) == 4
    resampled = list(replace(SMALL, sample=1).conversations())
    assert resampled[0].messages[0] == conversations[0].messages[0]
    assert resampled[0].messages[1] != conversations[0].messages[1]


def test_an_edit_changes_the_system_prompt_and_nothing_else(conversations):
    edited = next(replace(SMALL, edits=("carefully",)).conversations())
    before, after = (orjson.loads(one.request(3)) for one in (conversations[0], edited))
    assert before.pop("system") != after.pop("system")
    assert before == after
    assert edited.replies == conversations[0].replies


def test_the_mark_stands_on_the_newest_message_alone(conversations):
    marked = next(replace(SMALL, moving=True).conversations())
    for turn in (0, 5, 29):
        *older, newest = orjson.loads(marked.request(turn))["messages"]
        assert newest["content"][-1].pop("cache_control") == {"type": "ephemeral"}
        assert b"cache_control" not in orjson.dumps([older, newest])
        assert [*older, newest] == orjson.loads(conversations[0].request(turn))["messages"]

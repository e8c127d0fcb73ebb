"""Exchanges in the format of other tools, and in words."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

import pytest

from evalgate.commands.cassettes.exchanges import lines_of, one_exchange
from evalgate.commands.cassettes.har import har_of
from evalgate.core.exchange import Ending, Exchange
from evalgate.core.request import Piece, StoredRequest
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.keys.canonical import encode

#: What HAR 1.2 asks for, member by member; a list of one stands for any number of such.
CONTENT = {"size": int, "mimeType": str, "text": str}
PAIR = {"name": str, "value": str}
SHARED = {"httpVersion": str, "cookies": [PAIR], "headers": [PAIR]}
SIZES = {"headersSize": int, "bodySize": int}
ENTRY = {
    "startedDateTime": str,
    "time": float,
    "request": {
        **SHARED,
        **SIZES,
        "method": str,
        "url": str,
        "queryString": [PAIR],
        "postData": {"mimeType": str, "text": str},
    },
    "response": {
        **SHARED,
        **SIZES,
        "status": int,
        "statusText": str,
        "redirectURL": str,
        "content": CONTENT,
    },
    "cache": {},
    "timings": {"send": float, "wait": float, "receive": float},
}
HAR = {"log": {"version": str, "creator": {"name": str, "version": str}, "entries": [ENTRY]}}


def check(value: Any, shape: Any, path: str = "") -> None:
    """Fail where a value has not the shape."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), path
        for name, inner in shape.items():
            assert name in value, f"{path}.{name}"
            check(value[name], inner, f"{path}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), path
        for index, item in enumerate(value):
            check(item, shape[0], f"{path}[{index}]")
    else:
        kinds = (int, float) if shape is float else shape
        assert isinstance(value, kinds), path


def exchange(*messages: str, body: bytes = b"{}", **more: Any) -> Exchange:
    said = tuple(Piece.of(encode({"role": "user", "content": text})) for text in messages)
    given: dict[str, Any] = {
        "dialect": "anthropic",
        "method": "POST",
        "path": "/v1/messages",
        "request": StoredRequest(members={"model": Piece.of(b'"m"'), "messages": said}),
        "key": "",
        "status": 200,
        "body": body,
    }
    return Exchange(**{**given, **more})


def tape(*exchanges: Exchange, **header: Any) -> CassetteFile:
    return CassetteFile(header=Header(**header), exchanges=exchanges, claim={}, record={})


def test_an_archive_has_the_shape_of_har_1_2():
    """Streams, odd bytes, odd status codes and lost replies are in it as all others."""
    stream = b'event: ping\ndata: {"type":"ping"}\n\n'
    many = (
        exchange("a", began=1.5, seconds=0.25, query="alt=sse&x=", asked={"a-b": "c"}),
        exchange("b", body=stream, headers={"content-type": "text/event-stream; charset=utf-8"}),
        exchange("c", body=b"\xff\0", status=529),
        exchange(status=0, ending=Ending.CLIENT_GONE, request=StoredRequest(raw=b"\xfe")),
    )
    value = har_of([("one", tape(*many, recorded="2026-02-03")), ("two", tape())])
    check(value, HAR)
    log: Any = value["log"]
    assert log["version"] == "1.2"
    first, second, third, last = log["entries"]
    assert first["request"]["url"] == "https://model.invalid/v1/messages?alt=sse&x="
    assert first["request"]["queryString"] == [
        {"name": "alt", "value": "sse"},
        {"name": "x", "value": ""},
    ]
    started = datetime.fromisoformat(first["startedDateTime"])
    assert (started.year, started.second, started.microsecond) == (2026, 1, 500_000)
    assert first["time"] == sum(first["timings"].values()) == 250
    assert second["response"]["content"]["text"].encode() == stream
    assert second["response"]["content"]["mimeType"].startswith("text/event-stream")
    content = third["response"]["content"]
    assert (content["encoding"], base64.b64decode(content["text"])) == ("base64", b"\xff\0")
    assert "client_gone" in last["comment"]


def test_a_turn_counts_what_it_adds():
    """The bytes that no earlier request had, and the messages in all."""
    one, two = exchange("hello"), exchange("hello", "and now")
    first, second = lines_of([one, two])
    assert (first.messages, second.messages) == (1, 2)
    assert second.new == len(encode({"role": "user", "content": "and now"}))
    assert first.new > second.new


def test_an_exchange_in_full_shows_what_it_adds():
    """What it goes on from, how much is as before, and the new items as they read."""
    text, value = one_exchange([exchange("hello"), exchange("hello", "two\nlines")], 1)
    assert value["continues"] == 0
    assert value["kept"] == {"messages": 1}
    assert value["added"] == {"messages": [{"role": "user", "content": "two\nlines"}]}
    assert "goes on from exchange 0" in text
    assert "messages: 1 as before, then" in text
    assert "hello" not in text


def test_a_body_that_is_no_json_is_shown_as_it_came():
    """Bytes that are no text, too."""
    text, value = one_exchange([exchange(request=StoredRequest(raw=b"a=\xff"))], 0)
    assert value["raw"] == "a=\\xff"
    assert "a=\\xff" in text


@pytest.mark.parametrize(("count", "number"), [(0, 0), (2, 2)])
def test_an_exchange_that_is_not_there_is_an_error(count, number):
    """And the numbers that there are get named."""
    with pytest.raises(UsageError) as caught:
        one_exchange([exchange("x")] * count, number)
    assert "0 to 1" in caught.value.hint or "none" in caught.value.hint


def test_what_a_model_said_is_one_line():
    """How it begins, what it calls, why it stopped, what it used; an error in place of it."""
    said = {
        "type": "message",
        "model": "m",
        "content": [
            {"type": "text", "text": "Let me\nlook " + "at it " * 20},
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"c": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    wrong = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    good, bad = lines_of(
        [exchange("a", body=encode(said)), exchange("a", body=encode(wrong), status=529)]
    )
    line = good.row()[-1]
    assert line.startswith('"Let me look at it')
    assert line.endswith('…" calls bash (tool_use) 7→3 tokens')
    assert bad.row()[-1] == "error: Busy"
    assert bad.row()[3] == "529"

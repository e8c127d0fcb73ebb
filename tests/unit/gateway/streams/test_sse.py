"""Texts in a stream are edited where they are cut into pieces, and where they are whole."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Span
from evalgate.gateway.streams.editing import edit_joined, edit_pieces
from evalgate.gateway.streams.sse import is_stream, read_events

SECRET = "hunter2hunter2"


def found(text):
    """Find the secret."""
    hits = re.finditer(re.escape(SECRET), text)
    return [Span(start=hit.start(), end=hit.end(), text="<x>") for hit in hits]


def edited(*events):
    """Return the events of an edited stream."""
    body = "".join(f"event: e\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    return read_events(edit_pieces(body, found) or b"")


@pytest.mark.parametrize(
    ("body", "stream"),
    [
        (b"data: 1\n\n", True),
        (b"event: a\ndata:{}\n\n", True),
        (b"\xef\xbb\xbf\r\n: ping\n\n", True),
        (b"id: 1\n", True),
        (b"retry: 10\n", True),
        (b"", False),
        (b' {"data": 1}', False),
        (b"[1]", False),
        (b"<html>data: 1</html>", False),
        (b"upstream connect error: reset", False),
        (b"\x00\xff", False),
        (b"database: 1", False),
    ],
)
def test_a_stream_is_told_by_how_it_begins(body, stream):
    """A page or a line of text of some proxy is none."""
    assert is_stream(body) is stream


def delta(piece, index=0, kind="response.function_call_arguments.delta"):
    """Return an event whose delta is a string."""
    return {"type": kind, "item_id": f"i{index}", "output_index": index, "delta": piece}


def chunk(text, **more):
    """Return a piece of an answer that has the form of a whole one."""
    return {"candidates": [{"content": {"parts": [{"text": text, **more}]}, "index": 0}]}


def test_a_delta_that_is_a_string_is_joined_by_its_item():
    """Two calls come interleaved; each is a text of its own."""
    events = edited(delta("a hunter2"), delta("hunter2", 1), delta("hunter2 b"), delta("", 1))
    assert [event["delta"] for event in events] == ["a <x>", "hunter2", " b", ""]


def test_texts_of_one_item_are_joined_by_their_kind():
    """An answer and a summary of thoughts may have the same index."""
    text = "response.output_text.delta"
    events = edited(delta("hunter2"), delta("hunter2", kind=text), delta("hunter2"))
    assert [event["delta"] for event in events] == ["<x>", "hunter2", ""]


def test_pieces_that_look_whole_are_joined():
    """The thoughts between them are a text of their own."""
    events = edited(chunk("hunter2"), chunk("x", thought=True), chunk("hunter2"))
    texts = [event["candidates"][0]["content"]["parts"][0]["text"] for event in events]
    assert texts == ["<x>", "x", ""]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.done", "item": {"arguments": f"{{{SECRET}}}"}},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": {"p": SECRET}}}]}}]},
        {"type": "response.completed", "response": {"output": [{"content": [{"text": SECRET}]}]}},
        [SECRET],
    ],
)
def test_a_whole_text_is_edited_where_it_stands(event):
    """Clients of some APIs read these and no deltas."""
    (written,) = edited(event)
    assert json.dumps(written) == json.dumps(event).replace(SECRET, "<x>")


def start(text, index=0, kind="text"):
    """Return the event that begins a block, with text in it."""
    block = {"type": kind, kind: text}
    return {"type": "content_block_start", "index": index, "content_block": block}


def grow(text, index=0, kind="text"):
    """Return a delta of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "d", kind: text}}


def part(text):
    """Return the event that begins a part of a response, with text in it."""
    return {"type": "response.content_part.added", "part": {"type": "output_text", "text": text}}


OUTPUT = "response.output_text.delta"
OPENING = {"type": "message_start", "message": {"content": [{"type": "text", "text": "hunter2"}]}}
ITEM = {"type": "response.output_item.added", "output_index": 0, "item": {"arguments": "hunter2"}}


@pytest.mark.parametrize(
    "events",
    [
        [start("hunter2"), grow("hunter2")],
        [start("hunter2"), {"type": "ping"}, start("hunter2", 1)],
        [grow("hunter2"), start("hunter2", 1)],
        [start("hunter2", kind="thinking"), grow("hunter2", kind="thinking")],
        [OPENING, start("hun"), grow("ter2")],
        [part("hunter2"), delta("hunter2", kind=OUTPUT)],
        [delta("hunter2", kind=OUTPUT), part("hunter2")],
        [ITEM, delta("hunter2")],
    ],
)
def test_text_in_an_event_that_begins_a_block_is_joined(events):
    """A dialect reads it before the deltas."""
    written = edited(*events)
    assert written != events
    assert json.dumps(written).count("<x>") == 1
    assert "hunter2" not in json.dumps(written)
    assert "ter2" not in json.dumps(written)


def test_two_messages_of_one_text_each_are_joined():
    """As in the output of a response that came whole."""
    items = [{"type": "message", "content": [{"type": "output_text", "text": "hunter2"}]}] * 2
    done = edit_joined(json.dumps({"output": items}).encode(), found)
    texts = [item["content"][0]["text"] for item in json.loads(done)["output"]]
    assert texts == ["<x>", ""]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_event_of_several_data_lines_is_one(end):
    """The specification joins them by line ends; a comment may stand between."""
    one = ["id: 1", 'data: {"type": "t", "delta":', ": ping", 'data: {"text": "hunter2"}}', ""]
    body = end.join([*one, *one, ""]).encode()
    assert edit_pieces(body, lambda _: []) == body
    done = edit_pieces(body, found)
    assert [event["delta"]["text"] for event in read_events(done)] == ["<x>", ""]
    assert done.count(b": ping") == done.count(b"id: 1") == 2


def test_a_secret_over_two_comments_is_found():
    """Nobody reads comments, but they are stored."""
    body = b": hunter2\n:hunter2 x\n\ndata: 1\n\n"
    assert edit_pieces(body, found) == b": <x>\n:  x\n\ndata: 1\n\n"


def test_whole_texts_are_not_joined():
    """What follows in another event is another text."""
    events = ({"id": "hunter2"}, {"id": "hunter2"}, {"a": "hunter2", "b": "hunter2"})
    assert edited(*events) == list(events)


def test_an_event_that_is_nested_too_deeply_to_be_written():
    """It is left out rather than let through with what was found in it."""
    event = '{"delta":"' + SECRET + '","deep":' + "[" * 400 + "]" * 400 + "}"
    body = f"data: {event}\n\ndata: 1\n\n".encode()
    assert edit_pieces(body, found) == b"data: null\n\ndata: 1\n\n"
    assert edit_pieces(body, lambda _: []) == body


@given(st.binary())
def test_a_stream_without_a_find_stays_byte_for_byte(body):
    """Line ends, comments and broken events pass as they are."""
    assert edit_pieces(body, lambda _: []) in {None, body}
    assert isinstance(read_events(body), list)


@given(st.lists(st.sampled_from(["hun", "ter2", "hunter2", "x", ""]), max_size=8))
def test_pieces_are_cut_as_the_joined_text_is(pieces):
    """Whatever the pieces are, together they say the edited text."""
    events = edited(*(delta(piece) for piece in pieces))
    assert "".join(event["delta"] for event in events) == "".join(pieces).replace(SECRET, "<x>")
    chunks = edited(*(chunk(piece) for piece in pieces))
    texts = [event["candidates"][0]["content"]["parts"][0]["text"] for event in chunks]
    assert "".join(texts) == "".join(pieces).replace(SECRET, "<x>")

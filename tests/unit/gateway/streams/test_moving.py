"""A path in a recorded reply leads where the agent works now, however its pieces cut it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.streams.moving import labelled_body, moved_body

OLD, NEW = {"REPO": "/tmp/old/repo"}, {"REPO": "/home/new/place"}


def pieces(text, *places):
    """Return Gemini's pieces of an answer."""
    ends = sorted(place % (len(text) + 1) for place in places)
    said = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [{"candidates": [{"content": {"parts": [{"text": one}]}}]} for one in said]


@pytest.mark.parametrize("indent", [None, 2])
@given(places=st.lists(st.integers(0, 60), max_size=3))
def test_a_path_that_is_cut_over_the_items_of_an_array(indent, places):
    """As over the events of a stream."""
    items = pieces("see /tmp/old/repo/a.py now", *places)
    array = json.dumps(items, indent=indent).encode()
    stream = "".join(f"data: {json.dumps(item)}\n\n" for item in items).encode()
    for body in (array, stream):
        reply = DIALECTS["gemini"].read_reply(moved_body(body, OLD, NEW))
        assert reply.text == "see /home/new/place/a.py now"
        assert moved_body(body, OLD, OLD) == body


def test_a_call_in_an_array_is_moved():
    """Whole texts are moved where they stand, and what names no path keeps its bytes."""
    call = {"functionCall": {"name": "ls", "args": {"path": "/tmp/old/repo", "n": 1.50}}}
    items = [{"candidates": [{"content": {"parts": [part]}}]} for part in (call, {"text": "x"})]
    body = json.dumps(items, indent=2).encode()
    moved = moved_body(body, OLD, NEW)
    (made,) = DIALECTS["gemini"].read_reply(moved).calls
    assert made.input == {"path": "/home/new/place", "n": 1.5}
    assert moved.endswith(body[-80:])


@pytest.mark.parametrize(
    "body", ['["/tmp/old/repo/a"]', '{"path": "/tmp/old/repo/a"}', '[1, {"p": "/tmp/old/repo/a"}]']
)
def test_a_reply_that_comes_whole_is_moved_as_a_text(body):
    """An array of something else than objects is no stream."""
    assert moved_body(body.encode(), OLD, NEW).decode() == body.replace(OLD["REPO"], NEW["REPO"])


@given(places=st.lists(st.integers(0, 40), max_size=3))
def test_what_passes_becomes_its_label_wherever_it_is_cut(places):
    """Also where a path would not be looked for: as a part of a longer word."""
    labels = {"TOKEN-1f": "<TOKEN>"}
    items = pieces("see xTOKEN-1fx, TOKEN-1f, TOKEN-1e", *places)
    array = json.dumps(items).encode()
    stream = "".join(f"data: {json.dumps(item)}\n\n" for item in items).encode()
    for body in (array, stream):
        reply = DIALECTS["gemini"].read_reply(labelled_body(body, labels))
        assert reply.text == "see x<TOKEN>x, <TOKEN>, TOKEN-1e"
        assert labelled_body(body, {"other": "<OTHER>"}) == body


@pytest.mark.parametrize("body", [b"\xff TOKEN-1f", b'{"a": "TOKEN-1f"}', b""])
def test_what_passes_becomes_its_label_in_any_body(body):
    """Bytes that are no text stay as they are."""
    labels = {"TOKEN-1f": "<TOKEN>"}
    assert labelled_body(body, labels) == body.replace(b"TOKEN-1f", b"<TOKEN>")

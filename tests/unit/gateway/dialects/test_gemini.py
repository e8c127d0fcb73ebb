"""Gemini: calls without ids, two spellings, counts that are left out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.arrays import read_array
from evalgate.gateway.dialects.table import DIALECTS

GEMINI = DIALECTS["gemini"]


def asked(*parts, **body):
    """Return a request with these parts, read."""
    contents = [{"role": "user", "parts": list(parts)}]
    return GEMINI.read_request(json.dumps({"contents": contents, **body}).encode())


def replied(*parts, usage=None, **more):
    """Return an answer with these parts, read."""
    candidate = {"content": {"parts": list(parts)}, "finishReason": "STOP", **more}
    body = {"candidates": [candidate], "usageMetadata": usage}
    return GEMINI.read_reply(json.dumps(body).encode())


@pytest.mark.parametrize("member", ["systemInstruction", "system_instruction"])
def test_the_parts_of_a_request(member):
    """The API takes two spellings of a member; the body names no model."""
    system = {"parts": [{"text": "be brief"}]}
    read = asked({"text": "hi"}, tools=[1], generationConfig={}, **{member: system})
    assert read.parts == {
        "system": system,
        "tools": [1],
        "messages": [{"role": "user", "parts": [{"text": "hi"}]}],
        "parameters": {"generationConfig": {}},
    }
    assert read.model is None


@pytest.mark.parametrize(
    ("given", "output", "ok"),
    [
        ({"output": "done"}, "done", True),
        ({"output": {"a": 1}}, '{"a":1}', True),
        ({"error": "boom"}, "boom", False),
        ({"output": "done", "error": "but"}, "done", True),
        ({"result": 1}, '{"result":1}', None),
        (None, "{}", None),
    ],
)
def test_a_response_of_a_function(given, output, ok):
    """Two words are the API's own; anything else is what the tool says."""
    for name in ("functionResponse", "function_response"):
        (result,) = asked({name: {"name": "f", "response": given}}).results
        assert (result.output, result.ok) == (output, ok)


def test_calls_are_matched_by_id_or_else_by_name():
    """Clients make an id up from the function's name where the model gave none."""
    call = {"functionCall": {"name": "read_file", "args": {"path": "a"}}}
    given = {"functionCall": {"name": "read_file", "id": "8f2b1a3c"}}
    assert [one.call_id for one in replied(call, given).calls] == ["read_file", "8f2b1a3c"]
    assert [one.input for one in replied(call, given).calls] == [{"path": "a"}, {}]
    ids = (None, "read_file_1764500000000_2", "read_file_<ID>", "8f2b1a3c")
    parts = ({"functionResponse": {"name": "read_file", "id": one}} for one in ids)
    found = [result.call_id for result in asked(*parts).results]
    assert found == ["read_file", "read_file", "read_file", "8f2b1a3c"]
    nameless = asked({"functionResponse": {"id": "8f2b1a3c"}}, {"functionResponse": {}})
    assert [result.call_id for result in nameless.results] == ["8f2b1a3c", ""]


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, (10, 5, 0)),
        ({"promptTokenCount": 10, "candidatesTokenCount": 5}, (10, 5, 0)),
        # Thoughts stand beside the answer, and all that came from the cache is in the prompt.
        (
            {"promptTokenCount": 10, "cachedContentTokenCount": 8, "candidatesTokenCount": 5,
             "thoughtsTokenCount": 7, "totalTokenCount": 22},
            (2, 12, 8),
        ),
        # What tools of the provider fed back stands beside the prompt.
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 4, "candidatesTokenCount": 5,
             "totalTokenCount": 19},
            (14, 5, 0),
        ),
        # A count of zero is left out: the total says whether it is one.
        ({"promptTokenCount": 10, "totalTokenCount": 10}, (10, 0, 0)),
        ({"promptTokenCount": 10, "thoughtsTokenCount": 7, "totalTokenCount": 17}, (10, 7, 0)),
        ({"promptTokenCount": 10}, (10, None, 0)),
        ({"candidatesTokenCount": 5}, (None, None, None)),
        (None, (None, None, None)),
    ],
)  # fmt: skip
def test_tokens_are_counted_once(usage, counts):
    """The four numbers add up to the provider's total."""
    read = replied({"text": "x"}, usage=usage).usage
    assert (read.input_tokens, read.output_tokens, read.cache_read_tokens) == counts
    if usage and "totalTokenCount" in usage and "promptTokenCount" in usage:
        assert sum(counts) == usage["totalTokenCount"]


def test_of_several_candidates_the_first_counts():
    """Others are alternatives, not more of it."""
    pieces = [
        {"candidates": [{"content": {"parts": [{"text": text}]}, "index": index}]}
        for text, index in (("a", 0), ("x", 1), ("b", 0))
    ]
    pieces[-1]["candidates"][0]["finishReason"] = "MAX_TOKENS"
    reply = GEMINI.read_reply("".join(f"data: {json.dumps(p)}\n\n" for p in pieces).encode())
    assert (reply.text, reply.stop_reason) == ("ab", "MAX_TOKENS")


def test_an_error_in_a_stream(stream):
    """As an event, and as an item of an array."""
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    piece = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    for body in (stream(piece, error), json.dumps([piece, error]).encode()):
        reply = GEMINI.read_reply(body)
        assert (reply.error, reply.finished) == ("overloaded", False)


def test_counting_and_listing_are_read_as_no_answer(wire_body):
    """They are recorded like any exchange."""
    for file in ("gemini-count.json", "gemini-models.json"):
        reply = GEMINI.read_reply(wire_body(file))
        assert (reply.finished, reply.error, reply.usage) == (False, None, Usage())


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2)), st.data())
def test_an_array_is_read_as_far_as_it_came(items, data):
    """Whole items only, in whatever layout, cut at any byte."""
    indent = data.draw(st.sampled_from([None, 2]))
    body = json.dumps(items, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    assert read_array(body) == json.loads(body)
    cut = read_array(body[: data.draw(st.integers(0, len(body)))])
    assert cut == json.loads(body)[: len(cut)]


@given(st.binary(max_size=40))
def test_reading_an_array_is_total(junk):
    """Whatever stands there."""
    assert isinstance(read_array(junk), list)
    assert isinstance(read_array(b"[" + junk), list)
    assert read_array(b"[" * 5000) == []

"""What stands in two blocks side by side is one text to a model, and to who looks for secrets."""

from __future__ import annotations

import json

import pytest

from evalgate.core.redaction import Redactor
from evalgate.gateway.capture import clean_body
from evalgate.gateway.streams.blocks import edit_blocks, may_have_blocks

SECRET = "hunter2-" * 3
KNOWN = Redactor({"TOKEN": SECRET})
TOKEN = "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz"


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def clean(value):
    """Return a value whose blocks were edited, and how often."""
    count = edit_blocks(value, KNOWN.spans)
    return value, count


@pytest.mark.parametrize("at", [1, 8, len(SECRET) - 1])
def test_a_secret_over_two_blocks_is_replaced_in_the_first(at: int):
    """Wherever it is cut."""
    said, count = clean([text(f"it is {SECRET[:at]}"), text(f"{SECRET[at:]}, ok?")])
    assert said == [text("it is <secret:TOKEN>"), text(", ok?")]
    assert count == 1


def test_three_blocks_deep_in_a_value():
    """As in the content of a tool's result."""
    blocks = [text(SECRET[:3]), text(SECRET[3:9]), text(SECRET[9:])]
    value, _ = clean({"messages": [{"content": [{"type": "tool_result", "content": blocks}]}]})
    assert SECRET not in json.dumps(value)
    assert blocks == [text("<secret:TOKEN>"), text(""), text("")]


def test_a_key_of_a_provider_that_nobody_knows():
    """Its shape is seen only when both halves are read together."""
    said, _ = clean([text(TOKEN[:20]), text(TOKEN[20:])])
    assert said == [text("<secret:github-token>"), text("")]


def test_what_has_something_between_is_not_joined():
    """A model reads an image there; and a lone block is searched elsewhere."""
    value = [text(SECRET[:9]), {"type": "image"}, text(SECRET[9:])]
    assert clean(json.loads(json.dumps(value))) == (value, 0)
    assert clean([text(SECRET)]) == ([text(SECRET)], 0)


def test_no_secret_changes_nothing():
    """Not even a byte of a reply; one block is not worth a look."""
    body = json.dumps({"content": [text("a"), text("b")]}, indent=3).encode()
    assert clean_body(body, KNOWN) == body
    assert may_have_blocks(body)
    assert not may_have_blocks(json.dumps({"content": [text("text")]}).encode())


def test_the_blocks_of_a_stream_are_joined_as_well():
    """Each comes in deltas of its own; the secret ends in the next block."""
    events = [
        {"type": "content_block_delta", "index": at, "delta": {"type": "text_delta", "text": said}}
        for at, said in ((0, "it is "), (0, SECRET[:9]), (1, SECRET[9:12]), (1, SECRET[12:]))
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    lines = clean_body(body, KNOWN).split(b"\n\n")
    texts = [json.loads(line[6:])["delta"]["text"] for line in lines if line]
    assert texts == ["it is ", "<secret:TOKEN>", "", ""]

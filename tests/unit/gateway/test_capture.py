"""What is kept of a reply is without secrets, however its pieces cut them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor
from evalgate.gateway.capture import clean_body
from evalgate.gateway.dialects.table import DIALECTS

KNOWN = "hunter2-correct-horse-9"
ANT = "sk-ant-api03-" + "aB3xY9" * 5
GITHUB = "ghp_" + "aB3xY9" * 6
AMAZON = "AKIA" + "ABCDEFGH12345678"
REDACTOR = Redactor({"MY_KEY": KNOWN})


def chat(*pieces):
    """Return a chat stream that says these pieces."""
    chunks = ({"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces)
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()


def array(*pieces, indent=2):
    """Return a Gemini stream that is one array."""
    items = [
        {"candidates": [{"content": {"parts": [{"text": one}]}, "index": 0}]} for one in pieces
    ]
    return json.dumps(items, indent=indent).encode()


SAY = {"openai-chat": chat, "gemini": array}


def cut(text, *places):
    """Cut a text at these places."""
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]


@pytest.mark.parametrize("name", SAY)
@pytest.mark.parametrize("glued", [KNOWN + ANT, f"{KNOWN}{GITHUB}{KNOWN}{ANT}", AMAZON + KNOWN])
def test_keys_right_behind_one_another_are_all_taken_out(name, glued):
    """The second is no key before the first is gone; a file that held it would be refused."""
    body = SAY[name](*cut(f"it is {glued}, so", 10, 40))
    clean = clean_body(body, REDACTOR)
    said = DIALECTS[name].read_reply(clean).text
    assert said == f"it is {REDACTOR.text(glued)}, so"
    assert REDACTOR.leaks(said.encode()) == []
    assert clean_body(clean, REDACTOR) == clean


@pytest.mark.parametrize("name", SAY)
@given(places=st.lists(st.integers(0, 200), max_size=4))
def test_a_key_is_taken_out_wherever_it_is_cut(name, places):
    """A stream of events and one that is an array say the same text, without the key."""
    body = SAY[name](*cut(f"A {KNOWN} B {ANT} C", *places))
    said = DIALECTS[name].read_reply(clean_body(body, REDACTOR)).text
    assert said == "A <secret:MY_KEY> B <secret:anthropic-key> C"


def test_thoughts_in_an_array_are_a_text_of_their_own():
    """What stands between the pieces of an answer does not hide a key in them."""
    parts = [{"text": KNOWN[:9]}, {"text": "Hm.", "thought": True}, {"text": KNOWN[9:]}]
    items = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    reply = DIALECTS["gemini"].read_reply(clean_body(json.dumps(items).encode(), REDACTOR))
    assert (reply.text, reply.reasoning) == ("<secret:MY_KEY>", "Hm.")


def test_an_array_that_is_cut_off_is_cleaned_as_far_as_it_came():
    """Its last item stays as it is, and all bytes that hold no secret do."""
    body = array("a ", KNOWN[:9], f"{KNOWN[9:]} b", "c")[:-40]
    clean = clean_body(body, REDACTOR)
    assert DIALECTS["gemini"].read_reply(clean).text == "a <secret:MY_KEY> b"
    assert clean.startswith(array("a ")[:-2])
    assert clean.endswith(body[-60:])


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"[1, 2]", b"[\xff", b'["a', b"[[[", b"data: 1"]
)
def test_what_holds_no_secret_stays_byte_for_byte(body):
    """Whatever it is."""
    assert clean_body(body, REDACTOR) == body


@given(st.binary(), st.sampled_from([b"", b"[", b'[{"a": "b"}, ']))
def test_any_bytes_are_cleaned(body, start):
    """Nobody checks what a provider sends."""
    assert clean_body(start + body, Redactor({})) == start + body

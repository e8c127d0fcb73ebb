"""Secrets in stored files: found wherever they hide, told without what they say."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from evalgate.commands.cassettes.leaks import Leak, scan_file
from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece, StoredRequest
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, dump_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.keys.canonical import encode

KEY = "k3y-0123456789abcdef"
TOKEN = "ghp_" + "a1B2" * 9


def request(**members: object) -> StoredRequest:
    return StoredRequest(
        members={
            name: tuple(Piece.of(encode(item)) for item in value)
            if isinstance(value, list)
            else Piece.of(encode(value))
            for name, value in members.items()
        }
    )


def exchange(text: str = "hello", body: bytes = b"{}") -> Exchange:
    asked = request(model="m", messages=[{"role": "user", "content": text}])
    return Exchange(
        dialect="openai-chat",
        method="POST",
        path="/v1/chat/completions",
        request=asked,
        key="",
        status=200,
        body=body,
    )


def stored(*exchanges: Exchange, **more: object) -> bytes:
    """Return a cassette as one would be that nobody looked through."""
    empty = CassetteFile(header=Header(task="t"), exchanges=exchanges, claim={}, record={})
    return dump_cassette(replace(empty, **more))


def scanned(data: bytes, *, cassette: bool = True) -> list[tuple[int | None, str, str, str]]:
    """Return exchange, path, kind and form of what is found in a file."""
    redactor = Redactor({"SOME_KEY": KEY})
    found = scan_file(data, name="f.json", redactor=redactor, cassette=cassette)
    assert KEY not in repr(found)
    assert TOKEN not in repr(found)
    return [(leak.exchange, leak.path, leak.kind, leak.form) for leak in found.leaks]


def stream(*pieces: str) -> bytes:
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def test_a_clean_cassette_is_clean():
    """Labels that stand where secrets were are none."""
    assert scanned(stored(exchange("<secret:SOME_KEY>", stream("a", "b")))) == []


def test_a_secret_in_a_request_is_told_once_where_it_was_sent_first():
    """A conversation repeats its pieces; one line tells each."""
    first = exchange(f"it is {KEY}")
    data = stored(first, first)
    assert scanned(data) == [(0, "request.messages[0].content", "SOME_KEY", "plain")]


def test_a_secret_cut_into_the_pieces_of_a_stream_is_found():
    """No event holds it."""
    body = stream("it is ", KEY[:5], KEY[5:9], KEY[9:], " there")
    assert KEY.encode() not in body
    assert scanned(stored(exchange(body=body))) == [(0, "reply", "SOME_KEY", "joined")]


@pytest.mark.parametrize("end", ["]", ""])
def test_a_secret_cut_into_the_items_of_an_array_is_found(end):
    """As it comes of an API that streams one array, whole or broken off; as it is sealed."""
    items = [
        {"candidates": [{"content": {"parts": [{"text": half}]}}]} for half in (KEY[:9], KEY[9:])
    ]
    body = (json.dumps(items)[:-1] + end).encode()
    data = stored(replace(exchange(body=body), dialect="gemini", path="/v1beta/models/m:x"))
    assert (0, "reply", "SOME_KEY", "joined") in scanned(data)
    sealed = CassetteFile(header=Header(), exchanges=(exchange(body=body),), claim={}, record={})
    with pytest.raises(UsageError, match="would hold a secret: SOME_KEY"):
        dump_cassette(sealed, redactor=Redactor({"SOME_KEY": KEY}))


def test_a_secret_cut_over_blocks_is_found():
    """Of a prompt, of a message, of a whole reply, and of a file of any other kind."""
    blocks = [{"type": "text", "text": half} for half in (KEY[:9], KEY[9:])]
    asked = request(model="m", system=blocks, messages=[{"role": "user", "content": blocks}])
    one = replace(exchange(), request=asked, dialect="anthropic", path="/v1/messages")
    one = replace(one, body=json.dumps({"content": blocks}).encode())
    places = {path for _, path, _, form in scanned(stored(one)) if form == "joined"}
    assert places == {"request.system", "request.messages[0]", "reply"}
    other = json.dumps({"content": blocks}).encode()
    assert scanned(other, cassette=False) == [(None, "", "SOME_KEY", "joined")]


@pytest.mark.parametrize("offset", [0, 1, 2])
@pytest.mark.parametrize("alphabet", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_in_base64_is_found(offset, alphabet):
    """At any place in it, in either alphabet; as in a claim's binary file."""
    text = alphabet(b"." * offset + b" " + TOKEN.encode() + b" \xff\xfe").decode()
    claim = {"changed": {"x.bin": {"mode": "100644", "base64": text}}, "deleted": []}
    data = stored(exchange(), claim=claim)
    assert scanned(data) == [(None, "claim.changed.x.bin.base64", "github-token", "base64")]


def test_a_key_over_several_lines_is_found():
    """In the file its lines are apart."""
    pem = ["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBg"] * 4, "-----END PRIVATE KEY-----"]
    data = json.dumps({"claim": {"$lines": pem}}, indent=1).encode()
    assert scanned(data) == [(None, "claim", "private-key", "plain")]


def test_a_secret_that_is_the_name_of_a_member_is_found_and_not_told():
    """The path that leads to it is redacted as everything is."""
    data = stored(exchange(), record={"env": {KEY: "x"}})
    assert {found[2] for found in scanned(data)} == {"SOME_KEY"}


def test_what_is_no_cassette_is_looked_at_as_it_is():
    """As JSON by its paths, as bytes otherwise; and it is named."""
    redactor = Redactor({"SOME_KEY": KEY})
    data = json.dumps({"format": 1, "body": {"$lines": ["a", f"b {KEY}"]}}).encode()
    found = scan_file(data, name="old.json", redactor=redactor, cassette=True)
    assert found.leaks == (Leak(file="old.json", kind="SOME_KEY", path="body"),)
    assert "format 1" in found.unreadable
    assert scanned(b"\xff\0" + KEY.encode()) == [(None, "", "SOME_KEY", "plain")]
    assert scanned(f"key = {KEY}".encode(), cassette=False) == [(None, "", "SOME_KEY", "plain")]


def test_one_line_tells_a_person_where_to_look():
    """File, exchange, path, kind; the form where it is not plain."""
    leak = Leak(file="f", kind="K", path="reply", exchange=3, form="joined")
    assert leak.line == "f: exchange 3 reply: K (joined)"

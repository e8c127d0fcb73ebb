"""The body of a request: encodings, chunks, sizes, and clients that are slow or gone."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import time
import zlib
from contextlib import suppress
from urllib.parse import urlsplit

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalgate.gateway.body import _DECODERS, MAX_BODY, BodyError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
PLAIN = json.dumps(ASKED).encode()


def raw_deflate(data):
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def two_members(data):
    return gzip.compress(data[:10]) + gzip.compress(data[10:])


def two_frames(data):
    return zstd.compress(data[:10]) + zstd.compress(data[10:])


ENCODED = {
    "gzip": ("gzip", gzip.compress),
    "GZIP": ("GZip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "gzip of two members": ("gzip", two_members),
    "deflate": ("deflate", zlib.compress),
    "deflate without its header": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "zstd of two frames": ("zstd", two_frames),
    "identity": ("identity", bytes),
}


@pytest.mark.parametrize("kind", ENCODED)
def test_an_encoded_request_is_the_same_request(wire, kind):
    """The provider gets it plain, and a replay takes it plain or in any encoding."""
    encoding, pack = ENCODED[kind]
    wire.scripted.say(wire.message("one"))
    headers = {"content-encoding": encoding}
    with wire.live() as route:
        assert wire.post(route, pack(PLAIN), headers=headers).status == 200
        tape = wire.sealed(route)
    assert wire.scripted.heard[0].body == PLAIN
    assert "content-encoding" not in wire.scripted.heard[0].headers
    for name, way in ENCODED.values():
        with wire.replay(tape) as route:
            answer = wire.post(route, way(PLAIN), headers={"content-encoding": name})
            assert answer.status == 200


@pytest.mark.parametrize("kind", [name for name in ENCODED if name != "identity"])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_it_may_come_in_any_pieces(kind, step):
    """Where the network cuts says nothing about the content."""
    encoding, pack = ENCODED[kind]
    data = bytes(range(256)) * 300
    packed = pack(data)
    decoder = _DECODERS[encoding.lower()]()
    cuts = range(0, len(packed), step)
    assert b"".join(b"".join(decoder.take(packed[at : at + step])) for at in cuts) == data
    assert decoder.whole()


@pytest.mark.parametrize("kind", _DECODERS)
@given(data=st.binary(max_size=300), step=st.integers(1, 50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_unpacked_or_refused(kind, data, step):
    """Nothing but an error in words, whatever comes."""
    decoder = _DECODERS[kind]()
    with suppress(BodyError):
        for at in range(0, len(data), step):
            list(decoder.take(data[at : at + step]))
        assert decoder.whole() in {True, False}


@pytest.mark.parametrize(
    ("encoding", "body", "words"),
    [
        ("gzip", b"no gzip at all", "damaged"),
        ("gzip", gzip.compress(PLAIN, mtime=0)[:-9], "ends too early"),
        ("deflate", zlib.compress(PLAIN)[:-5], "ends too early"),
        ("deflate", zlib.compress(PLAIN) + b"more", "after its end"),
        ("br", b"\xff" * 40, "damaged"),
        ("br", brotli.compress(PLAIN)[:-3], "ends too early"),
        ("zstd", b"no zstd", "damaged"),
        ("zstd", zstd.compress(PLAIN)[:-4], "ends too early"),
        ("snappy", PLAIN, "'snappy' is not one of gzip"),
        ("gzip, zstd", PLAIN, "'gzip, zstd' is not one of"),
    ],
)
def test_a_bad_encoding_is_an_error_of_the_dialect(wire, encoding, body, words):
    """It is no exchange, asks no provider, and the connection and route go on."""
    with wire.live() as route:
        answer = wire.post(route, body, headers={"content-encoding": encoding})
        assert answer.status == 400
        assert answer.headers["x-should-retry"] == "false"
        assert words in answer.json["error"]["message"]
        chat = wire.post(
            route, body, "/v1/chat/completions", headers={"content-encoding": encoding}
        )
        assert "code" in chat.json["error"]
        assert route.witness().exchanges == ()
    assert wire.scripted.heard == []


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_not_unpacked(wire, kind):
    """A few kilobytes that would be 65 MiB are refused when the limit is passed."""
    encoding, pack = ENCODED[kind]
    bomb = pack(b" " * (MAX_BODY + (1 << 20)))
    assert len(bomb) < 100_000
    with wire.live() as route:
        answer = wire.post(route, bomb, headers={"content-encoding": encoding})
    assert answer.status == 413
    assert "64 MiB" in answer.json["error"]["message"]


def spoken(wire, route, *pieces, pause=0.0):
    """Send pieces as they are and return all that comes back."""
    url = urlsplit(route.base_url)
    with socket.create_connection((url.hostname, url.port), timeout=10) as client:
        for piece in pieces:
            client.sendall(piece.replace(b"PATH", url.path.encode()))
            time.sleep(pause)
        return b"".join(iter(lambda: client.recv(65536), b""))


HEAD = b"POST PATH/v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"


def test_a_chunked_request(wire):
    """Its chunks may be cut anywhere, and hold an encoding."""
    wire.scripted.say(wire.message("one"))
    packed = zstd.compress(PLAIN)
    chunks = [b"%x\r\n%s\r\n" % (1, packed[at : at + 1]) for at in range(len(packed))]
    head = HEAD + b"transfer-encoding: chunked\r\ncontent-encoding: zstd\r\n\r\n"
    with wire.live() as route:
        answer = spoken(wire, route, head, *chunks, b"0\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200")
        assert len(route.witness().exchanges) == 1
    assert wire.scripted.heard[0].body == PLAIN


def test_a_client_that_waits_to_be_told_to_go_on(wire):
    """``Expect: 100-continue`` is answered before the body comes."""
    wire.scripted.say(wire.message("one"))
    head = HEAD + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(PLAIN)
    with wire.live() as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port), timeout=10) as client:
            client.sendall(head.replace(b"PATH", url.path.encode()))
            assert client.recv(1000).startswith(b"HTTP/1.1 100")
            client.sendall(PLAIN)
            assert b"HTTP/1.1 200" in client.recv(1000)


def test_a_request_that_does_not_come_whole_is_ended(wire):
    """A byte now and then is no upload: it is refused in words, and others are not held up."""
    head = HEAD + b"content-length: 500\r\n\r\n"
    with wire.live(upload_seconds=0.3) as route:
        began = time.monotonic()
        answer = spoken(wire, route, head, b"{")
        assert time.monotonic() - began < 15
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"did not arrive whole within 0.3 s" in answer
        assert route.witness().exchanges == ()
        wire.scripted.say(wire.message("one"))
        assert wire.post(route, ASKED).status == 200


def test_a_client_that_vanishes_while_it_asks(wire):
    """Half a request was never asked: no exchange, no error of ours, and no provider."""
    with wire.live() as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port), timeout=10) as client:
            head = HEAD + b"content-length: 500\r\n\r\n{"
            client.sendall(head.replace(b"PATH", url.path.encode()))
            time.sleep(0.1)
        deadline = time.monotonic() + 10
        while route.tasks and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not route.tasks
        witness = route.witness()
    assert witness.exchanges == ()
    assert witness.provider_error is None
    assert wire.scripted.heard == []

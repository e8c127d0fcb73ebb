"""No path takes the real key out of the API that it is for."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gateway.leading_out import leads_out

OUT = [
    "/v1/../../x",
    "/v1/..",
    "/v1/./messages",
    "/../v1/messages",
    "/v1/%2e%2e/%2E%2E/x",
    "/v1/.%2e/x",
    "/v1/..%2f..%2fx",
    "/v1%2f..%2fx",
    "/v1/..\\..\\x",
    "/v1\\x",
    "/v1/%5c..%5cx",
    "/v1/%252e%252e/x",
    "/v1/%25252e%25252e%25252fx",
    "/v1/..;/x",
    "/v1/..;a=b/x",
    "/v1/.%09./x",
    "/v1/files/%00",
    "/v1/../v1/messages",
    "/v1beta/models/..%2f..%2fm:generateContent",
    "/v1/%" + "25" * 20 + "2e",
]

CONNECT = "CONNECT {} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"


def said(route, path, method="POST", body=b"{}"):
    """Send a path as it is, which no HTTP client does, and return status and body."""
    url = urlsplit(route.base_url)
    head = f"{method} {url.path}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    return exchanged(url, f"{head}content-length: {len(body)}\r\n\r\n", body)


def exchanged(place, head, body=b""):
    """Send bytes until the server closes, and return status and body."""
    with socket.create_connection((place.hostname, place.port), timeout=10) as client:
        client.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


@pytest.mark.parametrize("path", OUT)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_path_that_leads_out_is_refused(wire, path, method):
    """In the shape of the API's errors; it is no exchange, and nobody is asked with the key."""
    with wire.live() as route:
        status, body = said(route, path, method, wire.message())
        assert status == 400
        assert "dot segments" in json.loads(body)["error"]["message"]
        assert route.witness().exchanges == ()
    assert wire.scripted.heard == []


def test_a_replay_refuses_it_as_well(wire):
    """It is no miss: nothing was asked."""
    with wire.live() as route:
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert said(route, "/v1/../x")[0] == 400
        assert route.witness().misses == ()


@pytest.mark.parametrize(
    ("path", "heard"),
    [
        ("/v1/files/a%20b+c", "/v1/files/a%20b+c"),
        ("/v1/files/a%252Fb", "/v1/files/a%252Fb"),
        ("/v1/files/%C3%A9", "/v1/files/%C3%A9"),
        ("/v1/models/gpt-4.1..beta/...", "/v1/models/gpt-4.1..beta/..."),
        ("/v1/.well-known/x..", "/v1/.well-known/x.."),
        ("/v1/models/org%2Fname", "/v1/models/org%2Fname"),
        ("/models/org%2fname", "/v1/models/org%2fname"),
        ("/v1/files/a%3Ab%7e", "/v1/files/a%3Ab%7e"),
        ("/v1/files/a//b%25", "/v1/files/a//b%25"),
        ("/v1/files/%", "/v1/files/%"),
        ("/v1/files/%ff", "/v1/files/%ff"),
        ("/v1/x?b=%ff&c", "/v1/x?b=%ff&c"),
        ("/v1/x?a=1&&a=b+c%20d;e&c=&%66=%2F", "/v1/x?a=1&&a=b+c%20d;e&c=&%66=%2F"),
        ("/v1/x?%6bey=1&a=%26key&api%5Fkey=2", "/v1/x?a=%26key"),
    ],
)
def test_other_paths_go_on_as_they_came(wire, path, heard):
    """Dots in a name, and what is encoded for a reason."""
    wire.scripted.say(b"{}")
    with wire.live() as route:
        assert said(route, path, "GET", b"")[0] == 200
    assert wire.scripted.heard[0].path == heard


def test_what_differs_on_the_wire_has_another_key(wire):
    """An encoded slash, a sign that stands for itself, bytes that are no text."""
    paths = ["x%2Fy", "x/y", "x%252Fy", "x?b=%ff", "x?b=%fe", "x?b=%EF%BF%BD"]
    for n in range(len(paths)):
        wire.scripted.say(b"%d" % n)
    with wire.live() as route:
        first = [said(route, f"/v1/files/{path}", "GET", b"") for path in paths]
        tape = wire.sealed(route)
    assert len({one.key for one in tape.exchanges}) == len(paths)
    with wire.replay(tape) as route:
        again = [said(route, f"/v1/files/{path}", "GET", b"") for path in reversed(paths)]
    assert again == first[::-1]


@given(
    st.lists(st.sampled_from(["v1", "a.b", "..", ".", "...", "x..", ".y"]), max_size=5),
    st.integers(0, 4),
)
def test_it_is_told_however_often_it_is_encoded(segments, times):
    """A segment of one or two dots, and no other."""
    path = "/" + "/".join(segments)
    out = any(one in {".", ".."} for one in segments)
    for _ in range(times):
        path = quote(path, safe="").replace(".", "%2E")
    assert leads_out(path) is out


@pytest.mark.parametrize("path", ["/v1/files/%0d%0a", "/v1/%0Ax", "/%0d%0a", "/v1/messages%0a"])
def test_a_line_end_is_refused_in_the_words_of_the_api(wire, path):
    """Not by a server that knows no such path."""
    with wire.live() as route:
        for method in ("POST", "GET"):
            status, body = said(route, path, method)
            assert status == 400
            assert "control characters" in json.loads(body)["error"]["message"]


def test_what_names_no_path_is_answered_in_json(wire):
    """A proxy's verb names a host: there is no route."""
    with wire.live() as route:
        place = urlsplit(route.base_url)
        status, body = exchanged(place, CONNECT.format(place.netloc))
    assert (status, json.loads(body)["error"]["message"]) == (404, "evalgate: no such route")


def test_long_lines_are_taken_and_longer_ones_refused_in_silence(wire, caplog, capfd):
    """No traceback with the token of a route anywhere."""
    wire.scripted.say(b"{}")
    with wire.live() as route:
        place = urlsplit(route.base_url)
        longer = f"/v1/files/{'a' * 60_000}"
        assert wire.post(route, b"", longer, method="GET").status == 200
        assert (
            wire.post(route, b"", "/v1/x", method="GET", headers={"x-long": longer}).status == 200
        )
        for path, header in (("a" * 70_000, "b"), ("a", "b" * 70_000)):
            head = f"GET {place.path}/v1/{path} HTTP/1.1\r\nhost: x\r\nx-long: {header}\r\n\r\n"
            # What is not read any more may reset the connection before the answer is.
            with suppress(ConnectionError):
                assert exchanged(place, head)[0] == 400
        assert exchanged(place, f"GET {place.path}\0 HTTP/1.1\r\n\r\n")[0] == 400
    assert wire.scripted.heard[0].path == longer
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")

"""No path takes the real key out of the API that it is for."""

from __future__ import annotations

import json
import socket
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


def said(route, path, method="POST", body=b"{}"):
    """Send a path as it is, which no HTTP client does, and return status and body."""
    url = urlsplit(route.base_url)
    with socket.create_connection((url.hostname, url.port), timeout=10) as client:
        head = f"{method} {url.path}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
        client.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
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
    ],
)
def test_other_paths_go_on_as_they_came(wire, path, heard):
    """Dots in a name, and what is encoded for a reason."""
    wire.scripted.say(b"{}")
    with wire.live() as route:
        assert said(route, path, "GET", b"")[0] == 200
    assert wire.scripted.heard[0].path == heard


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

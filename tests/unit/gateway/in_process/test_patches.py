"""What a context does to the HTTP libraries of the process: all of it, and then nothing."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import socketserver
import threading
from contextlib import suppress
from types import SimpleNamespace

import aiohttp
import pytest
import urllib3
import urllib3.connection
import vcr.patch
from vcr.stubs import VCRHTTPConnection

import evalgate.vcr
from evalgate.errors import DivergedError
from tests.unit.gateway.in_process.conftest import HEADERS, PATH, connection, post, said

HOLDERS = [
    http.client,
    urllib3.connection,
    urllib3.connectionpool,
    vcr.patch,
    http.client.HTTPConnection,
    http.client.HTTPSConnection,
    urllib3.connection.HTTPConnection,
    urllib3.connection.HTTPSConnection,
    urllib3.connectionpool.HTTPConnectionPool,
    urllib3.connectionpool.HTTPSConnectionPool,
    aiohttp.ClientSession,
    aiohttp.BaseConnector,
]


class Direct(http.client.HTTPConnection):
    """A class of the agent's own, made before anything was patched."""


class DirectSecure(http.client.HTTPSConnection):
    """The same with TLS."""


class Dotted(http.client.HTTPConnection):
    """Calls its base by a name that is patched, as httplib2's connections do."""

    def __init__(self, host):
        http.client.HTTPConnection.__init__(self, host)


class DottedStub(VCRHTTPConnection):
    """What VCR.py puts in its place."""

    _baseclass = Dotted


class Local(http.client.HTTPConnection):
    """Speaks HTTP over a socket file, as to a container engine."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def state():
    """Return everything that could have been changed."""
    return [dict(vars(holder)) for holder in HOLDERS]


@pytest.fixture
def file(bedrock, tmp_path):
    """Return a cassette with one exchange."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "a")
    return file


def fail_within(file):
    """Open contexts in one another, both ways, and fail in the innermost."""
    with (
        evalgate.vcr.use_cassette(file.with_name("2.json"), mode="record"),
        evalgate.vcr.use_cassette(file),
        evalgate.vcr.use_cassette(file.with_name("3.json"), mode="record"),
    ):
        raise ZeroDivisionError


def test_nothing_of_the_patches_is_left(file):
    """Whatever was open in whatever, and however it ended."""
    before = state()
    with pytest.raises(ZeroDivisionError):
        fail_within(file)
    with evalgate.vcr.use_cassette(file):
        assert state() != before
    assert state() == before


def test_the_innermost_context_counts(bedrock, file):
    """One that records inside of a replay asks the provider; a replay inside of that does not."""
    with (
        evalgate.vcr.use_cassette(file),
        evalgate.vcr.use_cassette(file.with_name("2.json"), mode="record"),
    ):
        assert post(bedrock.url, "a")["n"] == 2
        with evalgate.vcr.use_cassette(file):
            assert post(bedrock.url, "a")["n"] == 1
        assert post(bedrock.url, "a")["n"] == 3
    assert bedrock.asked == 3


def test_a_real_connection_is_made_of_its_real_base(file):
    """Also where the base is called by the name of its module."""
    with evalgate.vcr.use_cassette(file):
        real = DottedStub("127.0.0.1:1").real_connection
    assert type(real) is Dotted
    assert vars(real)["port"] == 1


def by_a_connection_of_before(url):
    """Ask over a connection that was open already."""
    wire = connection(url)
    wire.request("POST", PATH, json.dumps({"text": "before"}), HEADERS)
    said(wire.getresponse())
    return lambda: wire.request("POST", PATH, json.dumps({"text": "a"}), HEADERS), wire.close


def by_a_class_of_its_own(url):
    """Ask over a connection that VCR.py knows nothing of."""
    wire = Direct(url.rpartition("/")[2])
    return lambda: wire.request("POST", PATH, json.dumps({"text": "a"}), HEADERS), wire.close


def by_a_secure_class_of_its_own(url):
    """Ask likewise, with TLS; the handshake alone would tell."""
    wire = DirectSecure(url.rpartition("/")[2])
    return lambda: wire.request("POST", PATH, json.dumps({"text": "a"}), HEADERS), wire.close


def by_urllib3_itself(url):
    """Ask by the class that urllib3 has for connections."""
    wire = urllib3.connection.HTTPConnection("127.0.0.1", int(url.rpartition(":")[2]))
    return lambda: wire.connect(), wire.close  # noqa: PLW0108 - looked up when it is called


def by_aiohttp_itself(url):
    """Ask for a connection where aiohttp's clients get theirs."""

    async def connect():
        async with aiohttp.TCPConnector() as connector:
            request = SimpleNamespace(url=url, connection_key=url)
            await connector.connect(request, [], aiohttp.ClientTimeout())

    return lambda: asyncio.run(connect()), lambda: None


@pytest.mark.parametrize(
    "client",
    [
        by_a_connection_of_before,
        by_a_class_of_its_own,
        by_a_secure_class_of_its_own,
        by_urllib3_itself,
        by_aiohttp_itself,
    ],
)
def test_what_the_patches_do_not_see_is_stopped_in_a_replay(bedrock, file, client):
    """Nothing leaves; also the end of the context says so."""
    ask, close = client(bedrock.url)
    asked = bedrock.asked
    with (
        pytest.raises(DivergedError, match=r"that VCR\.py does not see was stopped") as caught,
        evalgate.vcr.use_cassette(file),
        suppress(DivergedError),
    ):
        ask()
    close()
    assert caught.value.hint
    assert bedrock.asked == asked


def test_other_sockets_are_left_alone_in_a_replay(file, tmp_path):
    """A database over TCP, and HTTP to a socket file."""

    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4096)
            self.request.sendall(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi")

    path = str(tmp_path / "s")
    with (
        socketserver.TCPServer(("127.0.0.1", 0), Echo) as one,
        socketserver.UnixStreamServer(path, Echo) as other,
    ):
        for server in (one, other):
            threading.Thread(target=server.handle_request, daemon=True).start()
        with evalgate.vcr.use_cassette(file):
            with socket.create_connection(one.server_address) as database:
                database.sendall(b"select")
                assert database.recv(4096).endswith(b"hi")
            local = Local(path)
            local.request("GET", "/")
            assert said_plainly(local) == b"hi"


def said_plainly(wire):
    """Return a response's bytes."""
    with wire.getresponse() as response:
        data = response.read()
    wire.close()
    return data

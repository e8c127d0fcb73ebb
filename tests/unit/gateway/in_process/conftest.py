"""A scripted provider of an API that evalgate knows nothing of, and clients that ask it."""

from __future__ import annotations

import gzip
import http.client
import json
import shutil
import ssl
import subprocess
import threading
import urllib.request
from collections import Counter
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.serving import serving

KEY = "sk-ant-in-process-0123456789abcdef"
PATH = "/model/claude/converse"
HEADERS = {"content-type": "application/json", "x-api-key": KEY, "x-session": "random"}


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Say nothing when a client leaves."""


class Bedrock:
    """Says how often it was asked, and echoes; ``gates`` hold answers back, by text."""

    def __init__(self, certificate=None):
        self.asked = 0
        self.heard = Counter()
        self.gates: dict[str, threading.Event] = {}
        self.lock = threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                text = body["text"]
                with provider.lock:
                    provider.asked += 1
                    provider.heard[text] += 1
                    n = provider.asked
                if text in provider.gates:
                    provider.gates[text].wait(10)
                said = {"n": n, "echo": text, "key": self.headers["x-api-key"]}
                data = gzip.compress(json.dumps(said).encode())
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-encoding", "gzip")
                self.send_header("set-cookie", "session=1")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.stack = ExitStack()
        self.stack.enter_context(serving(self.server))
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.stack.close()


@pytest.fixture
def bedrock():
    """Return a running provider."""
    provider = Bedrock()
    yield provider
    provider.close()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Return a file with a key and a certificate for loopback."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", file, "-out", f"{file}.crt"]
    subprocess.run(["openssl", "req", *made, *more], check=True, capture_output=True)
    file.write_text(file.read_text() + file.with_name("both.pem.crt").read_text())
    return file


@pytest.fixture
def secure(certificate):
    """Return a running provider that speaks TLS."""
    provider = Bedrock(certificate)
    yield provider
    provider.close()


def connection(url, certificate=None):
    """Return a connection of the standard library's own."""
    place = urlsplit(url)
    if place.scheme == "https":
        context = ssl.create_default_context(cafile=certificate)
        return http.client.HTTPSConnection(place.netloc, timeout=10, context=context)
    return http.client.HTTPConnection(place.netloc, timeout=10)


def said(response):
    """Return what a response of the standard library says."""
    data = response.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def post(url, text, certificate=None):
    """Ask once, over a connection made for it."""
    wire = connection(url, certificate)
    try:
        wire.request("POST", PATH, json.dumps({"text": text}).encode(), HEADERS)
        return said(wire.getresponse())
    finally:
        wire.close()


def by_urllib(url, text):
    """Ask by the library that asks by the connections of the other one."""
    request = urllib.request.Request(url + PATH, json.dumps({"text": text}).encode(), HEADERS)
    with urllib.request.urlopen(request, timeout=10) as response:
        return said(response)

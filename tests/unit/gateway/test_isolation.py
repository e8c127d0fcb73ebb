"""Every trial is alone at the wire: its own token, its own exchanges, nobody from outside."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import aiohttp
import pytest

from evalgate.core.exchange import Ending

AGENTS = 32
TURNS = 6
STREAM = "text/event-stream"


async def agents(bases, turns):
    """Let one agent work on each route, all at once: what it asks next holds what it was told."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(base):
            messages, got = [{"role": "user", "content": "begin"}], []
            for _ in range(turns):
                body = {"model": "m", "messages": messages}
                async with session.post(f"{base}/v1/messages", json=body) as answer:
                    assert answer.status == 200, await answer.text()
                    got.append(await answer.read())
                text = json.loads(got[-1])["content"][0]["text"]
                messages = [*messages, {"role": "assistant", "content": text}]
                messages = [*messages, {"role": "user", "content": "go on"}]
            return got

        return await asyncio.gather(*map(one, bases))


def test_32_equal_agents_get_each_its_own_exchanges(wire):
    """Recorded and replayed at once, in another order each time, nobody gets another's answer."""
    for number in range(AGENTS * TURNS):
        wire.scripted.say(wire.message(f"answer {number}"))
    with ExitStack() as stack:
        routes = [stack.enter_context(wire.live()) for _ in range(AGENTS)]
        assert len({route.base_url for route in routes}) == AGENTS
        recorded = asyncio.run(agents([route.base_url for route in routes], TURNS))
        tapes = [wire.sealed(route, wire.folder / f"{n}.json") for n, route in enumerate(routes)]
    assert len({body for bodies in recorded for body in bodies}) == AGENTS * TURNS
    for tape, bodies in zip(tapes, recorded, strict=True):
        assert [exchange.body for exchange in tape.exchanges] == bodies
    asked = len(wire.scripted.heard)
    for order in (tapes, tapes[::-1]):
        with ExitStack() as stack:
            routes = [stack.enter_context(wire.replay(tape)) for tape in order]
            played = asyncio.run(agents([route.base_url for route in routes], TURNS))
            for route, tape in zip(routes, order, strict=True):
                assert route.witness().exchanges == tape.exchanges
                assert (route.witness().unused, route.witness().misses) == (0, ())
        assert played == (recorded if order is tapes else recorded[::-1])
    assert len(wire.scripted.heard) == asked


def test_a_token_is_long_and_its_own(wire):
    """Nobody guesses it; a part of one, or one that was, opens nothing."""
    with wire.live() as route, wire.live() as other:
        token, second = (one.base_url.rpartition("/")[2] for one in (route, other))
        assert token != second
        assert min(len(token), len(second)) >= 32
        base = route.base_url.removesuffix(token)
        for wrong in (token[:-1], token + "A", token.swapcase(), "", "..", f"{token[:-1]}%00"):
            assert wire.post(f"{base}{wrong}", wire.asked()).status == 404, wrong
    assert wire.post(f"{base}{token}", wire.asked()).status == 404
    assert wire.scripted.heard == []


def test_nobody_from_outside_reaches_the_gateway(wire):
    """It listens on the loopback alone."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: asks for the way out
        except OSError:
            pytest.skip("this machine has no address but the loopback's")
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no address but the loopback's")
    with socket.socket() as client:
        client.settimeout(5)
        assert client.connect_ex((own, wire.gateway.port)) != 0


def test_a_reader_that_stops_does_not_hold_up_the_others(wire):
    """Its own reply waits for it and takes no memory beyond that; it is recorded as gone."""
    piece = b"data: " + b"x" * 65536 + b"\n\n"
    wire.scripted.say_for_ever(piece, content_type=STREAM)
    with wire.live() as slow, wire.live() as quick:
        url = urlsplit(slow.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            body = b'{"model":"m"}'
            head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
            client.sendall(f"{head}\r\n\r\n".encode() + body)
            assert client.recv(100)
            wire.scripted.say(wire.message("quick"))
            began = time.monotonic()
            for _ in range(20):
                assert wire.post(quick, wire.asked()).status == 200
            assert time.monotonic() - began < 10
            tape = wire.sealed(slow)
    (exchange,) = tape.exchanges
    assert exchange.ending is Ending.CLIENT_GONE
    assert len(exchange.body) < 64 << 20
    with wire.replay(tape) as route:
        assert not wire.post(route, b'{"model":"m"}').whole


def test_a_cut_reply_never_answers_as_a_whole_one(wire):
    """Not to the next equal request, and not to a client that knows no chunks."""
    gate = threading.Event()
    half = b'data: {"type":"content_block_delta"'
    wire.scripted.say(half, b"never", content_type=STREAM, gate=gate)
    with wire.live() as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            body = b'{"model":"m"}'
            head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
            client.sendall(f"{head}\r\n\r\n".encode() + body)
            assert client.recv(1000)
        gate.set()
        route.stop()
        tape = wire.sealed(route)
    assert tape.exchanges[0].ending is Ending.CLIENT_GONE
    with wire.replay(tape) as route:
        assert not wire.post(route, b'{"model":"m"}').whole
        again = wire.post(route, b'{"model":"m"}')
        assert (again.status, again.whole) == (400, True)
        assert "already played" in again.json["error"]["message"]
    with wire.replay(tape) as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port), timeout=10) as client:
            head = f"POST {url.path}/v1/messages HTTP/1.0\r\ncontent-length: 13\r\n\r\n"
            client.sendall(head.encode() + b'{"model":"m"}')
            with pytest.raises(ConnectionResetError):
                list(iter(lambda: client.recv(1000), b""))

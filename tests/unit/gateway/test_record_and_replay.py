"""What was recorded is played again, byte for byte, and nothing else is."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict

import aiohttp
import pytest

from evalgate.core.exchange import Ending
from evalgate.errors import UsageError
from evalgate.gateway.cassette import load_cassette
from evalgate.gateway.format.header import Header

SSE = (
    b'event: message_start\r\ndata: {"type":"message_start","message":{"model":"m-1","usage":'
    b'{"input_tokens":7,"output_tokens":1}}}\r\n\r\n',
    b'data:{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\xe5\x8c',
    b'\x97"}}\n\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":9}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
)
CHAT_SSE = (
    b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
STREAM = "text/event-stream"


@pytest.mark.parametrize(
    ("path", "pieces", "content_type"),
    [
        ("/v1/messages", [b'{ "content": [], "odd": 1.10 }\n'], "application/json"),
        ("/v1/messages", SSE, STREAM),
        ("/v1/chat/completions", CHAT_SSE, STREAM),
        ("/chat/completions", [b'{"choices":[{"message":{"content":"x"}}]}'], "application/json"),
        ("/v1/messages/count_tokens", [b'{"input_tokens":3}'], "application/json"),
    ],
)
def test_replays_the_recorded_bytes(wire, path, pieces, content_type):
    """Status, type and body are those of the provider, whatever its spacing and line ends."""
    wire.scripted.say(
        *pieces, content_type=content_type, headers={"request-id": "r1", "set-cookie": "c"}
    )
    with wire.live() as route:
        first = wire.post(route, wire.asked(), path)
        tape = wire.sealed(route)
    assert first.body == b"".join(pieces)
    assert first.headers["request-id"] == "r1"
    assert "set-cookie" not in first.headers
    with wire.replay(tape) as route:
        again = wire.post(route, wire.asked(), path)
        assert route.witness().unused == 0
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert len(wire.scripted.heard) == 1


def test_relays_the_first_byte_before_the_provider_has_finished(wire):
    """A stream is a stream for the agent also while it is recorded."""
    gate = threading.Event()
    wire.scripted.say(*SSE, content_type=STREAM, gate=gate)

    async def read(base):
        url, body = f"{base}/v1/messages", wire.asked(stream=True)
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
            first = await asyncio.wait_for(answer.content.readany(), 5)
            gate.set()
            return first, await answer.content.read()

    with wire.live() as route:
        first, rest = asyncio.run(read(route.base_url))
        route.stop()
        witness = route.witness()
    assert first == SSE[0]
    assert first + rest == b"".join(SSE)
    assert witness.trajectory.final_answer == "北"
    assert (witness.usage.input_tokens, witness.usage.output_tokens) == (7, 9)


def test_equal_requests_are_played_in_order_and_once(wire):
    """Three answers to one question come again as three; a fourth was never recorded."""
    for text in "ABC":
        wire.scripted.say(wire.message(text))
    with wire.live() as route:
        recorded = [wire.post(route, wire.asked()).body for _ in range(3)]
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert [wire.post(route, wire.asked()).body for _ in range(3)] == recorded
        fourth = wire.post(route, wire.asked())
        witness = route.witness()
    assert fourth.status == 400
    assert fourth.headers["x-should-retry"] == "false"
    assert fourth.json["error"]["type"] == "invalid_request_error"
    assert "already played" in fourth.json["error"]["message"]
    assert witness.misses[0].played
    assert witness.trajectory.turns == 3


def test_order_between_different_requests_is_free(wire):
    """Parallel calls may come in another order; the witness keeps that of the recording."""
    wire.scripted.say(wire.message("one"))
    wire.scripted.say(wire.message("two"))
    with wire.live() as route:
        one, two = (wire.post(route, wire.asked(text)).body for text in ("1", "2"))
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert wire.post(route, wire.asked("2")).body == two
        assert wire.post(route, wire.asked("1")).body == one
        assert [exchange.body for exchange in route.witness().exchanges] == [one, two]


def test_a_changed_system_prompt_is_a_miss_that_names_the_path(wire):
    """One word in one block of a long prompt is found and shown, and nothing is forwarded."""
    wire.scripted.say(wire.message())
    long = "word " * 500
    blocks = [{"type": "text", "text": "first"}, {"type": "text", "text": f"{long}Be brief."}]
    with wire.live() as route:
        wire.post(route, wire.asked(system=blocks))
        tape = wire.sealed(route)
    blocks[1]["text"] = f"{long}Be thorough."
    with wire.replay(tape) as route:
        answer = wire.post(route, wire.asked(system=blocks))
        witness = route.witness()
    assert answer.status == 400
    (difference,) = witness.misses[0].differs
    assert difference.startswith("system[1].text: recorded ")
    assert "brief" in difference
    assert "thorough" in difference
    assert len(difference) < 300
    assert difference in answer.json["error"]["message"]
    assert witness.exchanges == ()
    assert witness.unused == 1
    assert len(wire.scripted.heard) == 1


def test_a_miss_in_chat_has_the_shape_of_chat_errors(wire):
    """Clients show the message of an error in their own dialect."""
    wire.scripted.say(wire.chat())
    with wire.live() as route:
        wire.post(route, wire.asked(), "/v1/chat/completions")
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        answer = wire.post(route, wire.asked("other"), "/v1/chat/completions")
    assert answer.status == 400
    assert answer.json["error"]["code"] is None
    assert "messages[0].content" in answer.json["error"]["message"]


def test_what_the_run_alone_knows_is_not_in_the_key(wire):
    """Session ids and the folder of the run may differ; a reply's paths lead to the new folder."""
    call = {"id": "t1", "name": "read", "input": {"path": "/tmp/run-1/repo/f.py"}}
    wire.scripted.say(wire.message("", call))
    body = wire.asked("work in /tmp/run-1/repo", metadata={"user_id": "session-1"})
    with wire.live(places={"REPO": "/tmp/run-1/repo"}) as route:
        wire.post(route, body, "/v1/messages?beta=true")
        tape = wire.sealed(route)
    assert b"session-1" not in wire.file.read_bytes()
    body = wire.asked("work in /tmp/other/repo", metadata={"user_id": "session-2"})
    with wire.replay(tape, places={"REPO": "/tmp/other/repo"}) as route:
        answer = wire.post(route, body)
        assert answer.json["content"][0]["input"]["path"] == "/tmp/other/repo/f.py"
        assert route.witness().exchanges == tape.exchanges


def test_a_path_cut_into_deltas_is_moved_too(wire):
    """The place is found in the joined text of a stream."""
    event = (
        'data: {{"type":"content_block_delta","index":0,'
        '"delta":{{"type":"text_delta","text":"{}"}}}}\n\n'
    )
    wire.scripted.say(
        *(event.format(t).encode() for t in ("see /tmp/r", "un-1/re", "po/f")), content_type=STREAM
    )
    with wire.live(places={"REPO": "/tmp/run-1/repo"}) as route:
        wire.post(route, wire.asked())
        tape = wire.sealed(route)
    with wire.replay(tape, places={"REPO": "/r2"}) as route:
        answer = wire.post(route, wire.asked())
    assert [line for line in answer.body.decode().split("\n") if '"see /r2"' in line]
    assert b'"/f"' in answer.body


@contextmanager
def opened(contexts):
    """Open several routes at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(context) for context in contexts]


def test_sixteen_routes_do_not_meet(wire):
    """Equal requests on parallel routes get each the answers of their own tape."""

    async def all_of(bases, times):
        async with aiohttp.ClientSession() as session:

            async def one(base):
                got = []
                for _ in range(times):
                    async with session.post(f"{base}/v1/messages", json=wire.asked()) as answer:
                        got.append(await answer.read())
                return got

            return await asyncio.gather(*map(one, bases))

    for number in range(16 * 5):
        wire.scripted.say(b'{"content":[],"n":%d}' % number)
    with opened([wire.live() for _ in range(16)]) as routes:
        recorded = asyncio.run(all_of([route.base_url for route in routes], 5))
        tapes = [wire.sealed(route, wire.folder / f"{n}.json") for n, route in enumerate(routes)]
    assert len({body for bodies in recorded for body in bodies}) == 80
    with opened([wire.replay(tape) for tape in tapes]) as routes:
        played = asyncio.run(all_of([route.base_url for route in routes], 5))
        assert all(route.witness().unused == 0 for route in routes)
    assert played == recorded


def test_parallel_equal_requests_are_each_answered_once(wire):
    """No answer is handed out twice, however many ask at once."""

    async def many(base):
        async with aiohttp.ClientSession() as session:

            async def one():
                async with session.post(f"{base}/v1/messages", json=wire.asked()) as answer:
                    return await answer.read()

            return await asyncio.gather(*(one() for _ in range(40)))

    for number in range(40):
        wire.scripted.say(b'{"content":[],"n":%d}' % number)
    with wire.live() as route:
        recorded = asyncio.run(many(route.base_url))
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert sorted(asyncio.run(many(route.base_url))) == sorted(recorded)


def test_an_error_that_was_recorded_is_played(wire):
    """Two failures and a success are three exchanges of one key, played in that order."""
    for status in (500, 500, 500, 500, 200):
        wire.scripted.say(
            b'{"content":[],"error":null}', status=status, headers={"retry-after": "0"}
        )
    with wire.live() as route:
        assert [wire.post(route, wire.asked()).status for _ in range(3)] == [500, 500, 200]
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert [wire.post(route, wire.asked()).status for _ in range(3)] == [500, 500, 200]


def test_a_reply_that_broke_off_breaks_off_again(wire):
    """It is recorded as cut, and never serves as a whole reply."""
    wire.scripted.say(SSE[0], content_type=STREAM, cut=True)
    with wire.live() as route:
        first = wire.post(route, wire.asked())
        tape = wire.sealed(route)
        witness = route.witness()
    assert (first.whole, first.body) == (False, SSE[0])
    assert tape.exchanges[0].ending is Ending.UPSTREAM_CUT
    assert witness.provider_error == "the provider's reply broke off"
    assert witness.trajectory.turns == 0
    assert witness.usage.output_tokens is None
    with wire.replay(tape) as route:
        again = wire.post(route, wire.asked())
        assert route.witness() == witness
    assert (again.whole, again.body) == (False, SSE[0])


def test_a_replay_can_not_be_sealed_and_needs_a_tape(wire):
    """A recording of a recording would prove nothing."""
    with wire.live() as route:
        tape = wire.sealed(route)
    assert tape.exchanges == ()
    with wire.replay(tape) as route, pytest.raises(UsageError):
        wire.sealed(route)
    with pytest.raises(ValueError, match="tape"), wire.replay(None):
        pass


def test_seal_gives_the_digest_of_the_file(wire):
    """The caller names the trial's cassette without reading it again."""
    path = wire.file
    with wire.live(places={"REPO": "/r"}) as route:
        whole = route.seal(path, header=Header(task="t"), claim={}, record={})
    assert load_cassette(path.read_bytes(), name="x") == whole
    assert [file.name for file in path.parent.iterdir()] == ["1.json"]


def test_recorded_times_are_those_of_the_witness_in_a_replay(wire):
    """Two replays of one tape have equal witnesses."""
    wire.scripted.say(wire.message())
    with wire.live() as route:
        wire.post(route, wire.asked())
        live_witness = route.witness()
        tape = wire.sealed(route)
    for _ in range(2):
        with wire.replay(tape) as route:
            wire.post(route, wire.asked())
            assert route.witness() == live_witness


def test_a_stream_is_cut_again_as_it_was_when_that_is_asked_for(wire):
    """At half the pace it takes at least twice as long; at once is what it does unasked."""
    gate = threading.Event()
    pieces = [b'data: {"n":%d}\n\n' % n for n in range(3)]
    wire.scripted.say(*pieces, content_type="text/event-stream", gate=gate)
    threading.Timer(0.2, gate.set).start()
    with wire.live() as route:
        wire.post(route, wire.asked())
        tape = wire.sealed(route)
    (one,) = tape.exchanges
    assert sum(size for size, _ in one.cuts) == len(b"".join(pieces))
    assert one.cuts[-1][1] >= 150
    with wire.replay(tape, pace=0.5) as route:
        began = time.monotonic()
        assert wire.post(route, wire.asked()).body == b"".join(pieces)
        assert time.monotonic() - began >= 0.3
    with wire.replay(tape) as route:
        assert wire.post(route, wire.asked()).body == b"".join(pieces)


async def asked_at_once(base, bodies):
    """Send requests so that all are under way together, in this order of arrival."""
    async with aiohttp.ClientSession() as session:

        async def one(body, number):
            await asyncio.sleep(number / 200)
            async with session.post(f"{base}/v1/messages", json=body) as answer:
                return await answer.read()

        return await asyncio.gather(*(one(body, n) for n, body in enumerate(bodies)))


def told(route):
    """Return all that a trial keeps of its wire, as bytes."""
    witness = route.witness()
    trajectory = json.dumps(asdict(witness.trajectory)).encode()
    return trajectory, witness.exchanges, witness.provider_error, witness.served_models


def test_an_agent_that_asks_in_parallel_leaves_the_same_trajectory_in_each_replay(wire):
    """Eight requests at once, in any order of arrival, are told in that of the recording."""
    call = {"name": "bash", "input": {"command": "ls"}}
    for number in range(8):
        reply = wire.message(f"text {number}", {**call, "id": f"c{number}"}, model=f"m-{number}")
        wire.scripted.say(reply)
    bodies = [wire.asked(f"ask {number % 6}", system=f"agent {number % 3}") for number in range(8)]
    with wire.live() as route:
        asyncio.run(asked_at_once(route.base_url, bodies))
        recorded = told(route)
        tape = wire.sealed(route)
    shuffle = random.Random(7)
    for _ in range(12):
        shuffle.shuffle(bodies)
        with wire.replay(tape) as route:
            asyncio.run(asked_at_once(route.base_url, bodies))
            assert told(route) == recorded

"""What was recorded is played again, byte for byte, and nothing else is."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import aiohttp
import pytest

from evalgate.core.exchange import Ending
from evalgate.errors import UsageError
from evalgate.gateway.cassette import load_cassette, read_cassette
from evalgate.gateway.server import Mode, RouteSpec

SSE = (
    b'event: message_start\r\ndata: {"type":"message_start","message":{"model":"m-1","usage":'
    b'{"input_tokens":7,"output_tokens":1}}}\r\n\r\n',
    b'data:{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\xe5\x8c',
    b'\x97"}}\n\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":9}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
)
CHAT_SSE = (
    b'data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n',
    b'data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
STREAM = "text/event-stream"


def sealed(route, path):
    route.seal(path, header={"task": "t"}, claim={"files": {}}, record={"agent": {}})
    return read_cassette(path)


def replay(tape, **more):
    return RouteSpec(mode=Mode.REPLAY, tape=tape, **more)


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
def test_replays_the_recorded_bytes(
    gateway, scripted, live, post, asked, tmp_path, path, pieces, content_type
):
    """Status, type and body are those of the provider, whatever its spacing and line ends."""
    scripted.say(*pieces, content_type=content_type, headers={"request-id": "r1", "set-cookie": "c"})
    with gateway.open_route(live()) as route:
        first = post(route.base_url, asked(), path)
        tape = sealed(route, tmp_path / "1.json")
    assert first.body == b"".join(pieces)
    assert first.headers["request-id"] == "r1"
    assert "set-cookie" not in first.headers
    with gateway.open_route(replay(tape)) as route:
        again = post(route.base_url, asked(), path)
        assert route.witness().unused == 0
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert len(scripted.heard) == 1


def test_relays_the_first_byte_before_the_provider_has_finished(gateway, scripted, live, asked):
    """A stream is a stream for the agent also while it is recorded."""
    gate = threading.Event()
    scripted.say(*SSE, content_type=STREAM, gate=gate)

    async def read(base):
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{base}/v1/messages", json=asked(stream=True)) as answer:
                first = await asyncio.wait_for(answer.content.readany(), 5)
                gate.set()
                return first, await answer.content.read()

    with gateway.open_route(live()) as route:
        first, rest = asyncio.run(read(route.base_url))
        route.stop()
        witness = route.witness()
    assert first == SSE[0]
    assert first + rest == b"".join(SSE)
    assert witness.trajectory.final_answer == "北"
    assert (witness.usage.input_tokens, witness.usage.output_tokens) == (7, 9)


def test_equal_requests_are_played_in_order_and_once(
    gateway, scripted, live, post, asked, message, tmp_path
):
    """Three answers to one question come again as three; a fourth was never recorded."""
    for text in "ABC":
        scripted.say(message(text))
    with gateway.open_route(live()) as route:
        recorded = [post(route.base_url, asked()).body for _ in range(3)]
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape)) as route:
        assert [post(route.base_url, asked()).body for _ in range(3)] == recorded
        fourth = post(route.base_url, asked())
        witness = route.witness()
    assert fourth.status == 400
    assert fourth.headers["x-should-retry"] == "false"
    assert fourth.json["error"]["type"] == "invalid_request_error"
    assert "already played" in fourth.json["error"]["message"]
    assert witness.misses[0].played
    assert witness.trajectory.turns == 3


def test_order_between_different_requests_is_free(
    gateway, scripted, live, post, asked, message, tmp_path
):
    """Parallel calls may come in another order; the witness keeps the order of arrival."""
    scripted.say(message("one"))
    scripted.say(message("two"))
    with gateway.open_route(live()) as route:
        one, two = (post(route.base_url, asked(text)).body for text in ("1", "2"))
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape)) as route:
        assert post(route.base_url, asked("2")).body == two
        assert post(route.base_url, asked("1")).body == one
        assert [exchange.body for exchange in route.witness().exchanges] == [two, one]


def test_a_changed_system_prompt_is_a_miss_that_names_the_path(
    gateway, scripted, live, post, asked, message, tmp_path
):
    """One word in one block of a long prompt is found and shown, and nothing is forwarded."""
    scripted.say(message())
    long = "word " * 500
    blocks = [{"type": "text", "text": "first"}, {"type": "text", "text": f"{long}Be brief."}]
    with gateway.open_route(live()) as route:
        post(route.base_url, asked(system=blocks))
        tape = sealed(route, tmp_path / "1.json")
    blocks[1]["text"] = f"{long}Be thorough."
    with gateway.open_route(replay(tape)) as route:
        answer = post(route.base_url, asked(system=blocks))
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
    assert len(scripted.heard) == 1


def test_a_miss_in_chat_has_the_shape_of_chat_errors(
    gateway, scripted, live, post, asked, chat, tmp_path
):
    """Clients show the message of an error in their own dialect."""
    scripted.say(chat())
    with gateway.open_route(live()) as route:
        post(route.base_url, asked(), "/v1/chat/completions")
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape)) as route:
        answer = post(route.base_url, asked("other"), "/v1/chat/completions")
    assert answer.status == 400
    assert answer.json["error"]["code"] is None
    assert "messages[0].content" in answer.json["error"]["message"]


def test_what_the_run_alone_knows_is_not_in_the_key(
    gateway, scripted, live, post, asked, message, tmp_path
):
    """Session ids and the folder of the run may differ; a reply's paths lead to the new folder."""
    call = {"id": "t1", "name": "read", "input": {"path": "/tmp/run-1/repo/f.py"}}
    scripted.say(message("", call))
    body = asked("work in /tmp/run-1/repo", metadata={"user_id": "session-1"})
    with gateway.open_route(live(places={"REPO": "/tmp/run-1/repo"})) as route:
        post(route.base_url, body, "/v1/messages?beta=true")
        tape = sealed(route, tmp_path / "1.json")
    assert b"session-1" not in (tmp_path / "1.json").read_bytes()
    body = asked("work in /tmp/other/repo", metadata={"user_id": "session-2"})
    with gateway.open_route(replay(tape, places={"REPO": "/tmp/other/repo"})) as route:
        answer = post(route.base_url, body)
        assert answer.json["content"][0]["input"]["path"] == "/tmp/other/repo/f.py"
        assert route.witness().exchanges == tape.exchanges


def test_a_path_cut_into_deltas_is_moved_too(
    gateway, scripted, live, post, asked, tmp_path
):
    """The place is found in the joined text of a stream."""
    event = (
        'data: {{"type":"content_block_delta","index":0,'
        '"delta":{{"type":"text_delta","text":"{}"}}}}\n\n'
    )
    scripted.say(*(event.format(t).encode() for t in ("see /tmp/r", "un-1/re", "po/f")),
                 content_type=STREAM)
    with gateway.open_route(live(places={"REPO": "/tmp/run-1/repo"})) as route:
        post(route.base_url, asked())
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape, places={"REPO": "/r2"})) as route:
        answer = post(route.base_url, asked())
    assert [line for line in answer.body.decode().split("\n") if '"see /r2"' in line]
    assert b'"/f"' in answer.body


def test_sixteen_routes_do_not_meet(gateway, scripted, live, post, asked, tmp_path):
    """Equal requests on parallel routes get each the answers of their own tape."""

    async def all_of(bases, times):
        async with aiohttp.ClientSession() as session:

            async def one(base):
                got = []
                for _ in range(times):
                    async with session.post(f"{base}/v1/messages", json=asked()) as answer:
                        got.append(await answer.read())
                return got

            return await asyncio.gather(*map(one, bases))

    for number in range(16 * 5):
        scripted.say(b'{"content":[],"n":%d}' % number)
    with ExitStackOf(gateway, [live() for _ in range(16)]) as routes:
        recorded = asyncio.run(all_of([route.base_url for route in routes], 5))
        tapes = [sealed(route, tmp_path / f"{n}.json") for n, route in enumerate(routes)]
    assert len({body for bodies in recorded for body in bodies}) == 80
    with ExitStackOf(gateway, [replay(tape) for tape in tapes]) as routes:
        played = asyncio.run(all_of([route.base_url for route in routes], 5))
        assert all(route.witness().unused == 0 for route in routes)
    assert played == recorded


class ExitStackOf:
    """Several routes at once."""

    def __init__(self, gateway, specs):
        self.contexts = [gateway.open_route(spec) for spec in specs]

    def __enter__(self):
        return [context.__enter__() for context in self.contexts]

    def __exit__(self, *error):
        for context in self.contexts:
            context.__exit__(*error)


def test_parallel_equal_requests_are_each_answered_once(
    gateway, scripted, live, asked, tmp_path
):
    """No answer is handed out twice, however many ask at once."""

    async def many(base):
        async with aiohttp.ClientSession() as session:

            async def one():
                async with session.post(f"{base}/v1/messages", json=asked()) as answer:
                    return await answer.read()

            return await asyncio.gather(*(one() for _ in range(40)))

    for number in range(40):
        scripted.say(b'{"content":[],"n":%d}' % number)
    with gateway.open_route(live()) as route:
        recorded = asyncio.run(many(route.base_url))
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape)) as route:
        assert sorted(asyncio.run(many(route.base_url))) == sorted(recorded)


def test_an_error_that_was_recorded_is_played(gateway, scripted, live, post, asked, tmp_path):
    """Two failures and a success are three exchanges of one key, played in that order."""
    for status in (500, 500, 500, 500, 200):
        scripted.say(b'{"content":[],"error":null}', status=status, headers={"retry-after": "0"})
    with gateway.open_route(live()) as route:
        assert [post(route.base_url, asked()).status for _ in range(3)] == [500, 500, 200]
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(replay(tape)) as route:
        assert [post(route.base_url, asked()).status for _ in range(3)] == [500, 500, 200]


def test_a_reply_that_broke_off_breaks_off_again(gateway, scripted, live, post, asked, tmp_path):
    """It is recorded as cut, and never serves as a whole reply."""
    scripted.say(SSE[0], content_type=STREAM, cut=True)
    with gateway.open_route(live()) as route:
        first = post(route.base_url, asked())
        tape = sealed(route, tmp_path / "1.json")
        witness = route.witness()
    assert (first.whole, first.body) == (False, SSE[0])
    assert tape.exchanges[0].ending is Ending.UPSTREAM_CUT
    assert witness.provider_error == "the provider's reply broke off"
    assert witness.trajectory.turns == 0
    assert witness.usage.output_tokens is None
    with gateway.open_route(replay(tape)) as route:
        again = post(route.base_url, asked())
        assert route.witness() == witness
    assert (again.whole, again.body) == (False, SSE[0])


def test_a_replay_can_not_be_sealed_and_needs_a_tape(gateway, scripted, live, tmp_path):
    """A recording of a recording would prove nothing."""
    with gateway.open_route(live()) as route:
        tape = sealed(route, tmp_path / "1.json")
    assert tape.exchanges == ()
    with gateway.open_route(replay(tape)) as route, pytest.raises(UsageError):
        sealed(route, tmp_path / "2.json")
    with pytest.raises(ValueError, match="tape"), gateway.open_route(replay(None)):
        pass


def test_seal_gives_the_digest_of_the_file(gateway, live, tmp_path):
    """The caller names the trial's cassette without reading it again."""
    path = tmp_path / "deep" / "1.json"
    with gateway.open_route(live(places={"REPO": "/r"})) as route:
        whole = route.seal(path, header={"task": "t"}, claim={}, record={})
    assert load_cassette(path.read_bytes(), name="x") == whole
    assert [file.name for file in path.parent.iterdir()] == ["1.json"]


def test_recorded_times_are_those_of_the_witness_in_a_replay(
    gateway, scripted, live, post, asked, message, tmp_path: Path
):
    """Two replays of one tape have equal witnesses."""
    scripted.say(message())
    with gateway.open_route(live()) as route:
        post(route.base_url, asked())
        live_witness = route.witness()
        tape = sealed(route, tmp_path / "1.json")
    for _ in range(2):
        with gateway.open_route(replay(tape)) as route:
            post(route.base_url, asked())
            assert route.witness() == live_witness

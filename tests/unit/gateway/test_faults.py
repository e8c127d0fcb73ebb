"""Faults at the wire: each goes wrong as it says, and takes nothing from the tape or the purse."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evalgate.core.faults import Fault, FaultKind, load_fault_plan
from evalgate.core.schema import Source
from evalgate.gateway import plans
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.faults import Faults, spoiled
from evalgate.gateway.limits.top_up import TopUp
from evalgate.gateway.server import Mode
from evalgate.gateway.upstream import Upstream

STREAM = "text/event-stream"
EVENTS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"model":"m-1","usage":'
    b'{"input_tokens":7,"output_tokens":1}}}\n\n',
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
    b'{"type":"text_delta","text":"hi"}}\n\n',
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":9}}\n\n',
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
)
BODY = b"".join(EVENTS)


def fault(kind, **more):
    more = {"turn": 1, **more} if "at" not in more else more
    return Fault(kind=FaultKind(kind), **more)


def recorded(wire, *replies):
    """Return the tape of a trial that asked 0, 1, 2, …, one reply each."""
    for reply in replies:
        pieces = (reply,) if isinstance(reply, bytes) else reply
        kind = "application/json" if isinstance(reply, bytes) else STREAM
        wire.scripted.say(*pieces, content_type=kind)
    with wire.live() as route:
        for number in range(len(replies)):
            assert wire.post(route, wire.asked(str(number))).status == 200
        return wire.sealed(route)


def broken(wire, route, body, **more):
    """Ask and return that the connection broke before anything was answered."""
    try:
        wire.post(route, body, **more)
    except (http.client.HTTPException, OSError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("status", [429, 500, 503, 529])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
def test_a_status_comes_in_the_dialects_shape_and_is_asked_again(wire, status, path):
    """With the plan's headers; the same request then gets the recorded reply, byte for byte."""
    chat = path.endswith("completions")
    wire.scripted.say(wire.chat() if chat else wire.message())
    with wire.live() as route:
        whole = wire.post(route, wire.asked(), path)
        tape = wire.sealed(route)
        real = route.witness()
    plan = (fault("status", status=status, headers={"retry-after": "0"}, times=2),)
    with wire.replay(tape, faults=plan) as route:
        for _ in range(2):
            answer = wire.post(route, wire.asked(), path)
            assert (answer.status, answer.headers["retry-after"]) == (status, "0")
            assert answer.json["error"]["message"]
            assert "x-should-retry" not in answer.headers
            assert DIALECTS["openai-chat" if chat else "anthropic"].read_reply(answer.body).error
        assert wire.post(route, wire.asked(), path).body == whole.body
        assert route.witness() == real
        assert route.faults.fired == [f"status {status} at request {n}" for n in (1, 2)]


def test_a_reset_breaks_the_connection_before_any_answer(wire):
    """And the next one is as good as new."""
    tape = recorded(wire, wire.message())
    with wire.replay(tape, faults=(fault("reset"),)) as route:
        assert broken(wire, route, wire.asked("0")) is ConnectionResetError
        assert wire.post(route, wire.asked("0")).status == 200
        assert route.witness().exchanges == tape.exchanges


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({"after_bytes": 500}, BODY[:500] if len(BODY) > 500 else BODY[:-1]),
        ({"after_bytes": 0}, b""),
        ({"after_bytes": 10**6}, BODY[:-1]),
        ({"after_events": 2}, b"".join(EVENTS[:2])),
        ({"after_events": 9}, BODY[:-1]),
        ({}, EVENTS[0]),
    ],
)
def test_a_stream_is_dropped_where_the_plan_says(wire, more, kept):
    """The head was whole, the rest is missing, and whoever asks again gets all of it."""
    tape = recorded(wire, EVENTS)
    with wire.replay(tape, faults=(fault("drop", **more),)) as route:
        first = wire.post(route, wire.asked("0"))
        assert (first.status, first.whole, first.body) == (200, False, kept)
        assert route.witness().exchanges == ()
        second = wire.post(route, wire.asked("0"))
        assert (second.whole, second.body) == (True, BODY)
        assert route.witness().exchanges == tape.exchanges


def test_json_is_dropped_in_its_middle(wire):
    """Half of it is there and no end."""
    reply = wire.message()
    tape = recorded(wire, reply)
    with wire.replay(tape, faults=(fault("drop"),)) as route:
        first = wire.post(route, wire.asked("0"))
        assert (first.whole, first.body) == (False, reply[: len(reply) // 2])


@pytest.mark.parametrize("streamed", [True, False])
def test_a_truncated_reply_ends_in_good_order_and_is_no_json(wire, streamed):
    """HTTP has nothing to say against it."""
    tape = recorded(wire, EVENTS if streamed else wire.message())
    with wire.replay(tape, faults=(fault("truncate"),)) as route:
        first = wire.post(route, wire.asked("0"))
        assert (first.status, first.whole) == (200, True)
        last = first.body.rsplit(b"data: ")[-1] if streamed else first.body
        with pytest.raises(json.JSONDecodeError):
            json.loads(last)
        assert wire.post(route, wire.asked("0")).body == tape.exchanges[0].body


def test_a_stream_says_in_its_middle_that_it_failed(wire):
    """One event as it was, then the provider's own kind of error, then a proper end."""
    tape = recorded(wire, EVENTS)
    with wire.replay(tape, faults=(fault("sse-error"),)) as route:
        first = wire.post(route, wire.asked("0"))
    assert first.whole
    assert first.body.startswith(EVENTS[0] + b"event: error\ndata: {")
    assert DIALECTS["anthropic"].read_reply(first.body).error == "Overloaded"


@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "passthrough"])
def test_every_dialect_reads_its_error_event(name):
    """What is put into a stream is what a client of that API takes for an error."""
    dialect = DIALECTS[name]
    bad = spoiled(b"data: {}\n\ndata: {}\n\n", fault("sse-error"), dialect)
    assert bad is not None
    assert dialect.read_reply(bad.body).error


def test_what_can_not_be_spoiled_is_left_alone(wire):
    """JSON has no events, an error is bad enough, and nothing is reported that did not happen."""
    wire.scripted.say(b'{"error": {}}', status=400)
    with wire.live() as route:
        wire.post(route, wire.asked("0"))
        wire.scripted.say(wire.message())
        wire.post(route, wire.asked("1"))
        tape = wire.sealed(route)
    with wire.replay(tape, faults=(fault("sse-error", at=1), fault("drop", at=9))) as route:
        assert wire.post(route, wire.asked("0")).body == b'{"error": {}}'
        assert wire.post(route, wire.asked("1")).status == 200
        assert route.faults.fired == []
    with wire.replay(tape, faults=(fault("truncate", at=1),)) as route:
        assert wire.post(route, wire.asked("unheard of")).status == 400
        assert len(route.witness().misses) == 1
        assert route.faults.fired == []


def test_a_stall_is_a_silence_and_then_the_answer(wire):
    """Others are not held up by it."""
    tape = recorded(wire, wire.message())
    with (
        wire.replay(tape, faults=(fault("stall", seconds=0.6),)) as route,
        wire.replay(tape) as other,
    ):
        began = time.monotonic()
        asking = threading.Thread(target=wire.post, args=(route, wire.asked("0")))
        asking.start()
        assert wire.post(other, wire.asked("0")).status == 200
        assert time.monotonic() - began < 0.5
        asking.join()
        assert time.monotonic() - began >= 0.6
        assert route.witness().exchanges == tape.exchanges


def test_a_stall_ends_with_its_trial(wire):
    """The end of an agent does not wait for it."""
    tape = recorded(wire, wire.message())
    with wire.replay(tape, faults=(fault("stall", seconds=60.0),)) as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            body = json.dumps(wire.asked("0"))
            head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
            client.sendall(f"{head}\r\n\r\n{body}".encode())
            while not route.tasks:
                time.sleep(0.01)
            began = time.monotonic()
            route.stop()
        assert time.monotonic() - began < 10
        assert route.witness().exchanges == ()


def test_faults_come_in_order_at_their_turns(wire):
    """A turn is one that the model has answered; requests count with those that failed."""
    tape = recorded(wire, wire.message("a"), wire.message("b"), wire.message("c"))
    plan = (
        fault("status", turn=1, status=429),
        fault("status", turn=1, status=529),
        fault("reset", turn=3),
        fault("status", at=6, status=503),
    )
    with wire.replay(tape, faults=plan) as route:
        got = [
            broken(wire, route, wire.asked(n)) or "no" for n in ("0", "0", "0", "1", "2", "2", "2")
        ]
        assert got == ["no"] * 4 + [ConnectionResetError] + ["no"] * 2
        assert route.faults.fired == [
            "status 429 at request 1",
            "status 529 at request 2",
            "reset at request 5",
            "status 503 at request 6",
        ]
        assert route.witness().exchanges == tape.exchanges


def test_live_faults_before_an_answer_ask_no_provider(wire):
    """What was not asked was not paid for."""
    wire.scripted.say(wire.message())
    plan = (fault("status", at=1, status=529), fault("reset", at=2))
    with wire.live(faults=plan) as route:
        assert wire.post(route, wire.asked()).status == 529
        assert broken(wire, route, wire.asked()) is ConnectionResetError
        assert wire.scripted.heard == []
        assert wire.post(route, wire.asked()).status == 200
        assert len(route.witness().exchanges) == 1


@pytest.mark.parametrize("kind", ["drop", "truncate", "sse-error"])
def test_a_live_reply_that_was_spoiled_is_paid_once(wire, kind):
    """It is held and given whole to the same request; another one asks the provider."""
    wire.scripted.say(*EVENTS, content_type=STREAM)
    with wire.live(faults=(fault(kind),)) as route:
        first = wire.post(route, wire.asked())
        assert first.body != BODY
        assert route.witness().exchanges == ()
        assert route.meter.used.tokens == 16, "it was paid for, seen or not"
        again = wire.post(route, wire.asked())
        assert (again.whole, again.body) == (True, BODY)
        assert len(wire.scripted.heard) == 1
        assert len(route.witness().exchanges) == 1
        assert route.meter.used.turns == 1
        assert wire.post(route, wire.asked()).body == BODY
        assert len(wire.scripted.heard) == 2
        assert route.meter.used.tokens == 32


@pytest.mark.parametrize("kind", ["drop", "truncate", "sse-error"])
def test_a_top_up_spoils_what_the_tape_holds_and_asks_once_for_the_rest(wire, kind):
    """As a replay and as a live trial do; a reply that is held uses up nothing of the bound."""
    wire.scripted.say(*EVENTS, content_type=STREAM)
    with wire.live() as route:
        assert wire.post(route, wire.asked()).body == BODY
        tape = wire.sealed(route)
    bound = TopUp(1)
    upstreams = {"m": Upstream(url=wire.scripted.url, key=None)}
    plan = (fault(kind), fault(kind, at=3))
    with wire.open(
        mode=Mode.TOP_UP, tape=tape, upstreams=upstreams, top_up=bound, faults=plan
    ) as route:
        for said in ("", "more"):
            body = wire.asked(said) if said else wire.asked()
            assert wire.post(route, body).body != BODY
            assert wire.post(route, body).body == BODY
        assert route.faults.fired == [f"{kind} at request 1", f"{kind} at request 3"]
        assert len(route.witness().exchanges) == 2
        assert not route.witness().misses
    assert (bound.used, len(wire.scripted.heard)) == (1, 2)


def test_two_equal_faults_are_two():
    """A plan may say the same twice."""
    faults = Faults((fault("reset", at=1), fault("reset", at=1)))
    for number in (1, 2):
        found = faults.next(request=number, turn=None)
        assert found is not None
        faults.fire(found, request=number)
    assert faults.next(request=3, turn=None) is None


@pytest.mark.parametrize("path", sorted(Path(plans.__file__).parent.glob("*.toml")), ids=str)
def test_the_plans_that_come_along_are_plans(path):
    """Each says at its top what it is for."""
    text = path.read_text()
    assert text.startswith("# ")
    assert load_fault_plan(Source(path.name, text)).of_task("any")

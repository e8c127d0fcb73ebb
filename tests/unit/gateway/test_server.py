"""The gateway as clients meet it: routes, errors, limits, secrets, and broken connections."""

from __future__ import annotations

import base64
import http.client
import logging
import re
import socket
import threading
import time
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from evalgate.core.exchange import Ending
from evalgate.core.limits import Allowance
from evalgate.core.redaction import Redactor
from evalgate.core.trajectory import ToolCall
from evalgate.gateway.server import Mode, open_gateway
from evalgate.gateway.upstream import Upstream

STREAM = "text/event-stream"
DELTA = (
    'data: {{"type":"content_block_delta","index":{},"delta":{{"type":"text_delta","text":"{}"}}}}'
    "\n\n"
)


def test_the_provider_gets_the_key_and_the_agent_never_has_it(wire):
    """The dummy of the agent is dropped; an echo of the real key is veiled; none is stored."""
    encoded = base64.b64encode(f"user:{wire.key}".encode()).decode()
    echo = wire.message(f"your key is {wire.key} or {encoded}")
    wire.scripted.say(echo, headers={"request-id": wire.key})
    secret = wire.asked(f"I found {wire.key} and {quote(wire.key, safe='')}", system=encoded)
    headers = {"authorization": f"Bearer {wire.key}", "cookie": wire.key, "anthropic-version": "v"}
    with wire.live() as route:
        answer = wire.post(route, secret, f"/v1/messages?beta=true&key={wire.key}", headers=headers)
        tape = wire.sealed(route)
    (heard,) = wire.scripted.heard
    assert heard.headers["x-api-key"] == wire.key
    assert heard.headers["anthropic-version"] == "v"
    assert not {"authorization", "cookie"} & set(heard.headers)
    assert heard.path == "/v1/messages?beta=true"
    assert wire.key.encode() not in answer.body
    written = wire.file.read_bytes()
    assert wire.key.encode() not in written
    assert encoded.encode() not in written
    assert b"<secret:provider-key-1>" in written
    with wire.replay(tape) as route:
        assert wire.post(route, wire.asked("x")).status == 400


@pytest.mark.parametrize(
    ("first", "last"), [("aaaa-0123456789", "zzzz-0123456789")[::step] for step in (1, -1)]
)
def test_the_labels_of_keys_do_not_depend_on_what_the_keys_are(wire, first, last):
    """On another machine the first model may have the key that sorts last."""
    upstreams = {
        name: Upstream(url=wire.scripted.url, key=key) for name, key in (("n", last), ("m", first))
    }
    with wire.open(mode=Mode.LIVE, upstreams=upstreams) as route:
        said = route.redactor.text(f"{first} {last}")
    assert said == "<secret:provider-key-1> <secret:provider-key-2>"


def test_a_bearer_key_goes_into_authorization(wire):
    """The style of the header is the upstream's."""
    wire.scripted.say(wire.chat())
    with wire.live(key_header="authorization") as route:
        wire.post(route, wire.asked(), "/v1/chat/completions")
    assert wire.scripted.heard[0].headers["authorization"] == f"Bearer {wire.key}"
    assert "x-api-key" not in wire.scripted.heard[0].headers


def test_a_key_cut_into_deltas_is_not_stored(wire):
    """Joining the pieces of a recorded stream gives no secret; other bytes stay as they were."""
    cuts = ["is ", *(wire.key[at : at + 7] for at in range(0, len(wire.key), 7)), " ok"]
    pieces = [DELTA.format(0, cut).encode() for cut in cuts]
    wire.scripted.say(*pieces, DELTA.format(1, "apart").encode(), content_type=STREAM)
    with wire.live() as route:
        wire.post(route, wire.asked(stream=True))
        exchange = wire.sealed(route).exchanges[0]
        text = route.witness()
    joined = "".join(line.split('"text":"')[1].split('"')[0] for line in _lines(exchange.body))
    assert joined == "is <secret:provider-key-1> okapart"
    assert exchange.body.startswith(pieces[0])
    assert text.provider_error == "the provider's reply broke off"


def _lines(body):
    return [line for line in body.decode().split("\n") if line.startswith("data")]


def test_a_key_in_two_chunks_of_a_stream_does_not_reach_the_agent(wire):
    """The veil holds back a beginning of the key until it knows how it goes on."""
    cut = (f"data: {wire.key[:9]}", f"{wire.key[9:]} sk-a")
    wire.scripted.say(*map(str.encode, cut), content_type=STREAM)
    with wire.live() as route:
        body = wire.post(route, wire.asked(stream=True)).body
    assert body == b"data: <secret:provider-key-1> sk-a"


def test_secrets_of_the_environment_are_replaced_in_what_is_stored(wire):
    """The agent still gets the true bytes, and asks with them; the key does not change."""
    wire.scripted.say(wire.message("the token is hunter2hunter2"))
    with wire.live() as route:
        first = wire.post(route, wire.asked("hunter2hunter2"))
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        again = wire.post(route, wire.asked("hunter2hunter2"))
    assert b"hunter2hunter2" in first.body
    assert again.status == 200
    assert b"hunter2" not in wire.file.read_bytes()
    assert b"<secret:SITE_TOKEN>" in again.body


@pytest.mark.parametrize("path", ["/r/wrong/v1/messages", "/v1/messages", "/", "/r/"])
def test_an_unknown_token_is_not_found(wire, path):
    """A stranger on this machine can neither use the key nor fill a tape."""
    answer = wire.post(f"http://127.0.0.1:{wire.gateway.port}", wire.asked(), path)
    assert answer.status == 404
    assert "no such route" in answer.json["error"]["message"]


def test_other_paths_and_methods(wire):
    """Clients probe the base, and try a websocket first: neither is an exchange."""
    with wire.live() as route:
        assert wire.post(route, b"", "", method="HEAD").status == 200
        assert wire.post(route, b"", "/", method="GET").status == 200
        upgrade = {"upgrade": "websocket", "connection": "Upgrade"}
        assert wire.post(route, b"", "/v1/responses", headers=upgrade, method="GET").status == 426
        assert route.witness().exchanges == ()


def test_a_stopped_route_lets_nothing_in(wire):
    """What an agent's stray child asks after the end is refused and not seen."""
    wire.scripted.say(wire.message())
    with wire.live() as route:
        wire.post(route, wire.asked())
        route.stop()
        assert wire.post(route, wire.asked()).status == 410
        assert len(route.witness().exchanges) == 1
    assert wire.post(route, wire.asked()).status == 404


def test_one_retry_after_too_many_requests(wire):
    """The agent sees only the success, and one exchange is recorded."""
    wire.scripted.say(b"{}", status=429, headers={"retry-after": "0"})
    wire.scripted.say(wire.message("fine"))
    with wire.live() as route:
        assert wire.post(route, wire.asked()).status == 200
        witness = route.witness()
    assert len(wire.scripted.heard) == 2
    assert wire.scripted.heard[0].body == wire.scripted.heard[1].body
    assert [exchange.status for exchange in witness.exchanges] == [200]
    assert witness.provider_error is None


def test_a_wait_that_is_too_long_is_left_to_the_agent(wire):
    """The provider's own answer goes back at once, with its header."""
    wire.scripted.say(b"{}", status=429, headers={"retry-after": "3600"})
    with wire.live() as route:
        answer = wire.post(route, wire.asked())
    assert (answer.status, answer.headers["retry-after"]) == (429, "3600")
    assert len(wire.scripted.heard) == 1


def test_two_failures_are_a_provider_error(wire):
    """After the retry the answer is the provider's; a later success takes the error back."""
    failure = b'{"type":"error","error":{"type":"api_error","message":"overloaded"}}'
    wire.scripted.say(failure, status=500, headers={"retry-after": "0"})
    wire.scripted.say(failure, status=500)
    wire.scripted.say(wire.message())
    with wire.live() as route:
        assert wire.post(route, wire.asked()).body == failure
        witness = route.witness()
        assert witness.provider_error == "the provider answered with HTTP 500: overloaded"
        assert witness.usage.input_tokens == 0
        wire.post(route, wire.asked())
        assert route.witness().provider_error is None


def test_a_provider_that_is_not_there(wire):
    """The agent gets an error of its dialect, and a replay gives the same one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:hunter@127.0.0.1:{free.getsockname()[1]}"
    with wire.open(mode=Mode.LIVE, upstreams={"m": Upstream(url=url)}) as route:
        first = wire.post(route, wire.asked())
        error = route.witness().provider_error
        tape = wire.sealed(route)
    assert first.status == 502
    assert error is not None
    assert error.startswith("evalgate: model m can not be reached: Client")
    assert error.endswith("(Connection refused)")
    assert "127.0.0.1" not in str(tape.exchanges)
    assert "hunter" not in str(tape.exchanges)
    with wire.replay(tape) as route:
        assert wire.post(route, wire.asked()).body == first.body
        assert route.witness().provider_error == error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": "z", "messages": []}, "model z is not configured"),
        ({"messages": []}, "names no model"),
        (b"not json", "the body is no JSON object"),
        (b"\xff\x00", "the body is no JSON object"),
        (b"", "the body is no JSON object"),
        (b"[" * 3000, "the body is no JSON object"),
        (b"[]", "the body is no JSON object"),
    ],
)
def test_a_model_that_is_not_configured(wire, body, words):
    """It is refused in the dialect's shape, recorded whatever its bytes, and named."""
    with wire.live() as route:
        answer = wire.post(route, body)
        assert answer.status == 400
        assert words in answer.json["error"]["message"]
        assert words in str(route.witness().provider_error)
        tape = wire.sealed(route)
    with wire.replay(tape) as route:
        assert wire.post(route, body).body == answer.body
    assert wire.scripted.heard == []


def test_a_model_behind_another_dialect(wire):
    """An upstream takes only the dialects it speaks."""
    upstream = Upstream(url=wire.scripted.url, dialects=frozenset({"openai-chat"}))
    with wire.open(mode=Mode.LIVE, upstreams={"m": upstream}) as route:
        assert "dialect anthropic" in wire.post(route, wire.asked()).json["error"]["message"]
    assert wire.scripted.heard == []


@pytest.mark.parametrize(
    ("headers", "dialect"),
    [({}, "openai-chat"), ({"anthropic-version": "2023-06-01"}, "anthropic")],
)
def test_a_list_of_models_nobody_can_give(wire, headers, dialect):
    """The dialect is named in which nobody can be asked, and that in which they can."""
    upstream = Upstream(url=wire.scripted.url, dialects=frozenset({"gemini"}))
    with wire.open(mode=Mode.LIVE, upstreams={"m": upstream}) as route:
        answer = wire.post(route, b"", "/v1/models", method="GET", headers=headers)
    words = f"evalgate: no model is configured for the dialect {dialect}, only for gemini"
    assert (answer.status, answer.json["error"]["message"]) == (400, words)
    assert wire.scripted.heard == []


def test_the_limit_of_turns(wire):
    """Errors are no turns; beyond the limit a request is refused, and again in a replay."""
    wire.scripted.say(b"{}", status=400)
    wire.scripted.say(wire.message())
    with wire.live(allowed=Allowance(turns=2)) as route:
        statuses = [wire.post(route, wire.asked(str(n))).status for n in range(4)]
        witness = route.witness()
        tape = wire.sealed(route)
    assert statuses == [400, 200, 200, 400]
    assert witness.limit == "evalgate: the limit of 2 model turns is reached"
    assert witness.provider_error is None
    for most in (1, 2, None):
        with wire.replay(tape, allowed=Allowance(turns=most)) as route:
            assert [wire.post(route, wire.asked(str(n))).status for n in range(4)] == statuses
            assert route.witness() == witness


def test_a_large_body_passes_and_a_huge_one_is_refused(wire):
    """5 MB is a long conversation; 65 MB is a mistake, and an error in words."""
    wire.scripted.say(wire.message())
    with wire.live() as route:
        assert wire.post(route, wire.asked("x" * 5_000_000)).status == 200
        huge = wire.post(route, wire.asked("x" * (65 << 20)))
        assert huge.status == 413
        assert "MiB" in huge.json["error"]["message"]
        assert wire.post(route, wire.asked()).status == 200


@pytest.mark.parametrize("content_type", ["application/json", STREAM, "text/plain"])
def test_a_provider_that_drops_the_connection(wire, content_type):
    """What came is relayed and recorded as cut; it is not asked for again."""
    wire.scripted.say(b'{"content": [', content_type=content_type, cut=True)
    with wire.live() as route:
        answer = wire.post(route, wire.asked())
        tape = wire.sealed(route)
        error = route.witness().provider_error
    assert (answer.whole, answer.body) == (False, b'{"content": [')
    assert tape.exchanges[0].ending is Ending.UPSTREAM_CUT
    assert tape.exchanges[0].body == answer.body
    assert error == "the provider's reply broke off"
    assert len(wire.scripted.heard) == 1


def test_a_client_of_http_1_0_gets_a_stream_to_its_end(wire):
    """It knows no chunks; the end of the connection is the end of the reply."""
    wire.scripted.say(b"data: 1\n\n", b"data: 2\n\n", content_type=STREAM)
    with wire.live() as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            head = f"POST {url.path}/v1/messages HTTP/1.0\r\ncontent-length: 13\r\n\r\n"
            client.sendall(head.encode() + b'{"model":"m"}')
            answer = b"".join(iter(lambda: client.recv(1000), b""))
    assert answer.endswith(b"\r\n\r\ndata: 1\n\ndata: 2\n\n")


def test_an_error_of_our_own_is_no_failure_of_the_agent(wire):
    """It is answered, seen by the witness, and the route goes on."""
    wire.scripted.say(wire.message())
    broken = Upstream(url="http://[not-a-url")
    with wire.open(mode=Mode.LIVE, upstreams={"m": broken}) as route:
        answer = wire.post(route, wire.asked())
        assert answer.status in {500, 502}
        error = str(route.witness().provider_error)
        assert error.startswith("evalgate: ")
        assert "not-a-url" not in error + answer.body.decode()
        assert wire.post(route, b"", "/", method="GET").status == 200


class Broken(dict):
    """Upstreams that can not be looked up once they are open: an error of our own."""

    opened = False

    def get(self, key, default=None):
        self._require_whole()
        return super().get(key, default)

    def items(self):
        self._require_whole()
        return super().items()

    def _require_whole(self):
        if self.opened:
            raise RuntimeError


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/messages", b'{"model": "m"}'),
        ("DELETE", "/v1/files/7?a=1&a=2", b""),
        ("GET", "/v1/models", b""),
    ],
)
def test_an_error_of_our_own_is_kept_like_any_answer(wire, method, path, body):
    """With the request's own method, query and body: a replay meets it again."""
    upstreams = Broken(m=Upstream(url=wire.scripted.url))
    with wire.open(mode=Mode.LIVE, upstreams=upstreams) as route:
        upstreams.opened = True
        first = wire.post(route, body, path, method=method)
        tape = wire.sealed(route)
    assert first.status == 500
    assert [one.method for one in tape.exchanges] == [method]
    with wire.replay(tape) as route:
        assert wire.post(route, body, path, method=method).body == first.body
        assert (route.witness().misses, route.witness().unused) == ((), 0)


def test_the_end_of_a_trial_waits_for_the_answer_to_an_error_of_our_own(wire):
    """It is on its way like any other: nothing is sealed before it is kept."""
    upstreams = Broken(m=Upstream(url=wire.scripted.url))
    under_way = []
    watch = logging.Handler()
    with wire.open(mode=Mode.LIVE, upstreams=upstreams) as route:
        upstreams.opened = True
        watch.emit = lambda _: under_way.append(len(route.tasks))
        log = logging.getLogger("evalgate.gateway.answering")
        log.addHandler(watch)
        level = log.level
        log.setLevel(logging.DEBUG)
        try:
            wire.post(route, wire.asked())
        finally:
            log.setLevel(level)
            log.removeHandler(watch)
    assert under_way == [1]


def test_a_query_that_says_a_name_twice_goes_on_whole(wire):
    """All pairs in their order, and each counts in a replay."""
    wire.scripted.say(b'{"data": []}')
    path = "/v1/files?include[]=a&include[]=b&key=dummy&after=x&include[]=a&empty="
    with wire.live() as route:
        first = wire.post(route, b"", path, method="GET")
        tape = wire.sealed(route)
    query = urlsplit(wire.scripted.heard[0].path).query
    said = [("include[]", "a"), ("include[]", "b"), ("after", "x"), ("include[]", "a")]
    assert parse_qsl(query, keep_blank_values=True) == [*said, ("empty", "")]
    with wire.replay(tape) as route:
        fewer = path.replace("&include[]=b", "")
        assert wire.post(route, b"", fewer, method="GET").status == 400
        turned = path.replace("=b", "=c").replace("=a", "=b", 1).replace("=c", "=a")
        assert wire.post(route, b"", turned, method="GET").status == 400
        assert wire.post(route, b"", path, method="GET").body == first.body


def test_a_redirect_is_not_followed(wire):
    """The key goes to the place that was named, and to no other."""
    elsewhere = {"location": f"{wire.scripted.url}/elsewhere"}
    wire.scripted.say(b"{}", status=307, headers=elsewhere)
    with wire.live() as route:
        assert wire.post(route, wire.asked()).status == 307
    assert [heard.path for heard in wire.scripted.heard] == ["/v1/messages"]


def test_turns_in_parallel_do_not_pass_the_limit(wire):
    """A request on its way holds its turn."""
    gate = threading.Event()
    wire.scripted.say(DELTA.format(0, "a").encode(), b"\n", content_type=STREAM, gate=gate)
    with wire.live(allowed=Allowance(turns=1)) as route:
        first = threading.Thread(target=wire.post, args=(route, wire.asked()))
        first.start()
        while not wire.scripted.heard:
            time.sleep(0.01)
        second = wire.post(route, wire.asked())
        gate.set()
        first.join()
    assert "limit of 1" in second.json["error"]["message"]


def test_a_client_that_leaves_is_recorded_as_gone(wire):
    """Its half of a stream never answers a whole request later."""
    gate = threading.Event()
    piece = DELTA.format(0, "x" * 2000).encode()
    wire.scripted.say_for_ever(piece, content_type=STREAM, gate=gate)
    with wire.live() as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            body = b'{"model":"m"}'
            head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
            client.sendall(f"{head}\r\n\r\n".encode() + body)
            assert client.recv(100)
        gate.set()
        # The reply has no end of its own: it is stored once the gateway has seen that nobody reads.
        deadline = time.monotonic() + 20
        while not route.witness().exchanges and time.monotonic() < deadline:
            time.sleep(0.01)
        tape = wire.sealed(route)
        witness = route.witness()
    assert tape.exchanges[0].ending is Ending.CLIENT_GONE
    assert witness.provider_error is None
    with wire.replay(tape) as route:
        assert not wire.post(route, b'{"model":"m"}').whole


def test_stop_cuts_what_does_not_end(wire):
    """A provider that hangs does not hold up the end of a trial."""
    gate = threading.Event()
    wire.scripted.say(DELTA.format(0, "a").encode(), b"never", content_type=STREAM, gate=gate)
    with wire.live() as route:
        asking = threading.Thread(target=wire.post, args=(route, wire.asked()))
        asking.start()
        while not wire.scripted.heard:
            time.sleep(0.01)
        begin = time.monotonic()
        route.stop()
        assert time.monotonic() - begin > 1.5, "what is on its way has a moment to end"
        (exchange,) = route.witness().exchanges
    gate.set()
    asking.join()
    assert exchange.ending is Ending.CLIENT_GONE


def test_an_agent_that_was_stopped_before_any_answer(wire):
    """Its request is recorded without one, and a replay gives none."""
    gate = threading.Event()
    wire.scripted.say(b"", b"late", gate=gate, before=True)
    with wire.live() as route:
        asking = threading.Thread(target=_ask_in_vain, args=(wire, route))
        asking.start()
        while not wire.scripted.heard:
            time.sleep(0.01)
        tape = wire.sealed(route)
        gate.set()
        asking.join()
        error = route.witness().provider_error
    assert (tape.exchanges[0].ending, tape.exchanges[0].status) == (Ending.CLIENT_GONE, 0)
    assert re.fullmatch(r"the provider had not answered after \d+\.\d s", error)
    with wire.replay(tape) as route:
        _ask_in_vain(wire, route)
        assert route.witness().unused == 0
        assert route.witness().provider_error == error


def _ask_in_vain(wire, route):
    with pytest.raises((http.client.HTTPException, OSError)):
        wire.post(route, wire.asked())


def test_the_witness_of_a_tool_loop(wire):
    """Calls in order, outputs from the next request, times between; the last text is the answer."""
    first = {"id": "a", "name": "bash", "input": {"command": "ls"}}
    second = {"id": "b", "name": "bash", "input": {"command": "false"}}
    wire.scripted.say(wire.message("", first, second))
    wire.scripted.say(wire.message("All done."))
    ask = {"role": "user", "content": "go"}
    results = [
        {"type": "tool_result", "tool_use_id": "b", "content": "exit 1", "is_error": True},
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "f.py"}]},
    ]
    with wire.live() as route:
        said = wire.post(route, {"model": "m", "messages": [ask]}).json["content"]
        time.sleep(0.05)
        messages = [
            ask,
            {"role": "assistant", "content": said},
            {"role": "user", "content": results},
        ]
        wire.post(route, {"model": "m", "messages": messages})
        witness = route.witness()
    calls = witness.trajectory.calls
    assert [(call.call_id, call.output, call.ok) for call in calls] == [
        ("a", "f.py", True),
        ("b", "exit 1", False),
    ]
    assert isinstance(calls[0], ToolCall)
    assert calls[0].seconds is not None
    assert 0.04 < calls[0].seconds < 5
    assert witness.trajectory.final_answer == "All done."
    assert witness.trajectory.turns == 2
    assert witness.served_models == ("m-1",)
    assert (witness.usage.input_tokens, witness.usage.output_tokens) == (20, 10)


def test_a_gateway_leaves_no_thread_and_no_port(wire):
    """Everything it opened is closed when its context ends."""
    wire.scripted.say(wire.message())
    before = threading.active_count()
    with open_gateway(redactor=Redactor({})) as gateway:
        other = replace(wire, gateway=gateway)
        with other.live() as route:
            other.post(route, wire.asked())
        port = gateway.port
    deadline = time.monotonic() + 20  # threads of the loop's pool end on their own
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    route.stop()
    assert len(route.witness().exchanges) == 1


def test_a_list_of_models_is_asked_for_and_played(wire):
    """With its method and query, without what could be a key; it is an exchange like any other."""
    listed = b'{"data": [{"id": "m"}]}'
    wire.scripted.say(listed)
    path, headers = "/v1/models?limit=5&key=dummy", {"anthropic-version": "2023-06-01"}
    with wire.live() as route:
        assert wire.post(route, b"", path, method="GET", headers=headers).body == listed
        witness = route.witness()
        tape = wire.sealed(route)
    (heard,) = wire.scripted.heard
    assert (heard.method, heard.path, heard.body) == ("GET", "/v1/models?limit=5", b"")
    assert heard.headers["x-api-key"] == wire.key
    assert witness.trajectory.turns == 0
    with wire.replay(tape) as route:
        assert wire.post(route, b"", path, method="GET", headers=headers).body == listed
        assert wire.post(route, b"", path, method="GET", headers=headers).status == 400


def test_an_unknown_endpoint_goes_where_its_model_is(wire):
    """By the model that its body names or, without one, to the only place there is."""
    wire.scripted.say(b'{"data": []}')
    with wire.live() as route:
        named = wire.post(route, {"model": "m", "input": "x"}, "/v1/embeddings")
        wrong = wire.post(route, {"model": "z", "input": "x"}, "/v1/embeddings")
        only = wire.post(route, b"", "/v1/files/7?after=3", method="DELETE")
        tape = wire.sealed(route)
    assert (named.status, only.status) == (200, 200)
    assert (wrong.status, "model z is not configured" in str(wrong.json)) == (400, True)
    assert [(one.method, one.path) for one in wire.scripted.heard] == [
        ("POST", "/v1/embeddings"),
        ("DELETE", "/v1/files/7?after=3"),
    ]
    with wire.replay(tape) as route:
        assert wire.post(route, b"", "/v1/files/7?after=3", method="DELETE").body == only.body


def test_an_unknown_endpoint_with_several_places_to_go(wire):
    """Nobody guesses who is meant: the models are named, and no host is."""
    upstreams = {"m": Upstream(url=wire.scripted.url), "n": Upstream(url="http://127.0.0.1:9")}
    with wire.open(mode=Mode.LIVE, upstreams=upstreams) as route:
        answer = wire.post(route, b"", "/v1/files", method="GET")
        assert answer.status == 400
        assert "could go to several: m, n" in str(answer.json)
        assert "127.0.0.1" not in str(answer.json)
    assert wire.scripted.heard == []


def test_gemini_names_its_model_in_the_path(wire):
    """It goes to that model's upstream, with the query but the key."""
    wire.scripted.say(b'{"candidates": []}')
    path = "/v1beta/models/m:generateContent"
    with wire.live(key_header="x-goog-api-key") as route:
        assert wire.post(route, {"contents": []}, f"{path}?alt=sse&key=dummy").status == 200
        other = wire.post(route, {"contents": []}, "/v1beta/models/z:generateContent")
    assert (other.status, "model z is not configured" in str(other.json)) == (400, True)
    assert wire.scripted.heard[0].path == f"{path}?alt=sse"
    assert wire.scripted.heard[0].headers["x-goog-api-key"] == wire.key

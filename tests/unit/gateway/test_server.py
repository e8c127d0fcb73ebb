"""The gateway as clients meet it: routes, errors, limits, secrets, and broken connections."""

from __future__ import annotations

import base64
import socket
import threading
import time
from urllib.parse import quote, urlsplit

import pytest

from evalgate.core.exchange import Ending
from evalgate.core.redaction import Redactor
from evalgate.core.trajectory import ToolCall
from evalgate.gateway.cassette import read_cassette
from evalgate.gateway.server import Mode, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream

STREAM = "text/event-stream"
DELTA = (
    'data: {{"type":"content_block_delta","index":{},"delta":{{"type":"text_delta","text":"{}"}}}}'
    "\n\n"
)


def sealed(route, path):
    route.seal(path, header={"task": "t"}, claim={}, record={})
    return read_cassette(path)


def test_the_provider_gets_the_key_and_the_agent_never_has_it(
    gateway, scripted, live, post, asked, message, key, tmp_path
):
    """The dummy of the agent is dropped; an echo of the real key is veiled; none is stored."""
    encoded = base64.b64encode(f"user:{key}".encode()).decode()
    scripted.say(message(f"your key is {key} or {encoded}"), headers={"request-id": key})
    secret = asked(f"I found {key} and {quote(key, safe='')}", system=encoded)
    headers = {"authorization": f"Bearer {key}", "cookie": key, "anthropic-version": "v"}
    with gateway.open_route(live()) as route:
        answer = post(route.base_url, secret, f"/v1/messages?beta=true&key={key}", headers=headers)
        tape = sealed(route, tmp_path / "1.json")
    (heard,) = scripted.heard
    assert heard.headers["x-api-key"] == key
    assert heard.headers["anthropic-version"] == "v"
    assert not {"authorization", "cookie"} & set(heard.headers)
    assert heard.path == "/v1/messages?beta=true"
    assert key.encode() not in answer.body
    written = (tmp_path / "1.json").read_bytes()
    assert key.encode() not in written
    assert encoded.encode() not in written
    assert b"<secret:provider-key-1>" in written
    with gateway.open_route(RouteSpec(mode=Mode.REPLAY, tape=tape)) as route:
        assert post(route.base_url, asked("x")).status == 400


def test_a_bearer_key_goes_into_authorization(gateway, scripted, live, post, asked, chat, key):
    """The style of the header is the upstream's."""
    scripted.say(chat())
    with gateway.open_route(live(key_header="authorization")) as route:
        post(route.base_url, asked(), "/v1/chat/completions")
    assert scripted.heard[0].headers["authorization"] == f"Bearer {key}"
    assert "x-api-key" not in scripted.heard[0].headers


def test_a_key_cut_into_deltas_is_not_stored(gateway, scripted, live, post, asked, key, tmp_path):
    """Joining the pieces of a recorded stream gives no secret; other bytes stay as they were."""
    cuts = ["is ", *(key[at : at + 7] for at in range(0, len(key), 7)), " ok"]
    pieces = [DELTA.format(0, cut).encode() for cut in cuts]
    scripted.say(*pieces, DELTA.format(1, "apart").encode(), content_type=STREAM)
    with gateway.open_route(live()) as route:
        post(route.base_url, asked(stream=True))
        exchange = sealed(route, tmp_path / "1.json").exchanges[0]
        text = route.witness()
    joined = "".join(line.split('"text":"')[1].split('"')[0] for line in _lines(exchange.body))
    assert joined == "is <secret:provider-key-1> okapart"
    assert exchange.body.startswith(pieces[0])
    assert text.provider_error == "the provider's reply broke off"


def _lines(body):
    return [line for line in body.decode().split("\n") if line.startswith("data")]


def test_a_key_in_two_chunks_of_a_stream_does_not_reach_the_agent(
    gateway, scripted, live, post, asked, key
):
    """The veil holds back a beginning of the key until it knows how it goes on."""
    scripted.say(f"data: {key[:9]}".encode(), f"{key[9:]} sk-a".encode(), content_type=STREAM)
    with gateway.open_route(live()) as route:
        body = post(route.base_url, asked(stream=True)).body
    assert body == b"data: <secret:provider-key-1> sk-a"


def test_secrets_of_the_environment_are_replaced_in_what_is_stored(
    scripted, live, post, asked, message, tmp_path
):
    """The agent still gets the true bytes, and asks with them; the key does not change."""
    scripted.say(message("the token is hunter2hunter2"))
    with open_gateway(redactor=Redactor({"SITE_TOKEN": "hunter2hunter2"})) as gateway:
        with gateway.open_route(live()) as route:
            first = post(route.base_url, asked("hunter2hunter2"))
            tape = sealed(route, tmp_path / "1.json")
        with gateway.open_route(RouteSpec(mode=Mode.REPLAY, tape=tape)) as route:
            again = post(route.base_url, asked("hunter2hunter2"))
    assert b"hunter2hunter2" in first.body
    assert again.status == 200
    assert b"hunter2" not in (tmp_path / "1.json").read_bytes()
    assert b"<secret:SITE_TOKEN>" in again.body


@pytest.mark.parametrize("path", ["/r/wrong/v1/messages", "/v1/messages", "/", "/r/"])
def test_an_unknown_token_is_not_found(gateway, post, asked, path):
    """A stranger on this machine can neither use the key nor fill a tape."""
    answer = post(f"http://127.0.0.1:{gateway.port}", asked(), path)
    assert answer.status == 404
    assert "no such route" in answer.json["error"]["message"]


def test_other_paths_and_methods(gateway, live, post):
    """Clients probe the base; what is no model API is not found, in JSON."""
    with gateway.open_route(live()) as route:
        assert post(route.base_url, b"", "", method="HEAD").status == 200
        assert post(route.base_url, b"", "/", method="GET").status == 200
        assert post(route.base_url, b"", "/v1/models", method="GET").json["type"] == "error"
        assert post(route.base_url, b"{}", "/v1/embeddings").status == 404
        upgrade = {"upgrade": "websocket", "connection": "Upgrade"}
        assert post(route.base_url, b"", "/v1/responses", headers=upgrade, method="GET").status == 426
        assert route.witness().exchanges == ()


def test_a_stopped_route_lets_nothing_in(gateway, scripted, live, post, asked, message):
    """What an agent's stray child asks after the end is refused and not seen."""
    scripted.say(message())
    with gateway.open_route(live()) as route:
        post(route.base_url, asked())
        route.stop()
        assert post(route.base_url, asked()).status == 410
        assert len(route.witness().exchanges) == 1
    assert post(route.base_url, asked()).status == 404


def test_one_retry_after_too_many_requests(gateway, scripted, live, post, asked, message):
    """The agent sees only the success, and one exchange is recorded."""
    scripted.say(b"{}", status=429, headers={"retry-after": "0"})
    scripted.say(message("fine"))
    with gateway.open_route(live()) as route:
        assert post(route.base_url, asked()).status == 200
        witness = route.witness()
    assert len(scripted.heard) == 2
    assert scripted.heard[0].body == scripted.heard[1].body
    assert [exchange.status for exchange in witness.exchanges] == [200]
    assert witness.provider_error is None


def test_a_wait_that_is_too_long_is_left_to_the_agent(gateway, scripted, live, post, asked):
    """The provider's own answer goes back at once, with its header."""
    scripted.say(b"{}", status=429, headers={"retry-after": "3600"})
    with gateway.open_route(live()) as route:
        answer = post(route.base_url, asked())
    assert (answer.status, answer.headers["retry-after"]) == (429, "3600")
    assert len(scripted.heard) == 1


def test_two_failures_are_a_provider_error(gateway, scripted, live, post, asked, message):
    """After the retry the answer is the provider's; a later success takes the error back."""
    failure = b'{"type":"error","error":{"type":"api_error","message":"overloaded"}}'
    scripted.say(failure, status=500, headers={"retry-after": "0"})
    scripted.say(failure, status=500)
    scripted.say(message())
    with gateway.open_route(live()) as route:
        assert post(route.base_url, asked()).body == failure
        witness = route.witness()
        assert witness.provider_error == "the provider answered with HTTP 500: overloaded"
        assert witness.usage.input_tokens == 0
        post(route.base_url, asked())
        assert route.witness().provider_error is None


def test_a_provider_that_is_not_there(gateway, post, asked, tmp_path):
    """The agent gets an error of its dialect, and a replay gives the same one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    spec = RouteSpec(mode=Mode.LIVE, upstreams={"m": Upstream(url=url)})
    with gateway.open_route(spec) as route:
        first = post(route.base_url, asked())
        error = route.witness().provider_error
        tape = sealed(route, tmp_path / "1.json")
    assert first.status == 502
    assert error is not None
    assert "can not be reached" in error
    with gateway.open_route(RouteSpec(mode=Mode.REPLAY, tape=tape)) as route:
        assert post(route.base_url, asked()).body == first.body
        assert route.witness().provider_error == error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": "z", "messages": []}, "model z is not configured"),
        ({"messages": []}, "names no model"),
        (b"not json", "names no model"),
        (b"\xff\x00", "names no model"),
        (b"", "names no model"),
        (b"[" * 3000, "names no model"),
    ],
)
def test_a_model_that_is_not_configured(gateway, scripted, live, post, tmp_path, body, words):
    """It is refused in the dialect's shape, recorded whatever its bytes, and named."""
    with gateway.open_route(live()) as route:
        answer = post(route.base_url, body)
        assert answer.status == 400
        assert words in answer.json["error"]["message"]
        assert words in str(route.witness().provider_error)
        tape = sealed(route, tmp_path / "1.json")
    with gateway.open_route(RouteSpec(mode=Mode.REPLAY, tape=tape)) as route:
        assert post(route.base_url, body).body == answer.body
    assert scripted.heard == []


def test_a_model_behind_another_dialect(gateway, scripted, post, asked):
    """An upstream takes only the dialects it speaks."""
    upstream = Upstream(url=scripted.url, dialects=frozenset({"openai-chat"}))
    with gateway.open_route(RouteSpec(mode=Mode.LIVE, upstreams={"m": upstream})) as route:
        assert "dialect anthropic" in post(route.base_url, asked()).json["error"]["message"]
    assert scripted.heard == []


def test_the_limit_of_turns(gateway, scripted, live, post, asked, message, tmp_path):
    """Errors are no turns; beyond the limit a request is refused, and again in a replay."""
    scripted.say(b"{}", status=400)
    scripted.say(message())
    with gateway.open_route(live(max_turns=2)) as route:
        statuses = [post(route.base_url, asked(str(n))).status for n in range(4)]
        witness = route.witness()
        tape = sealed(route, tmp_path / "1.json")
    assert statuses == [400, 200, 200, 400]
    assert witness.limit == "evalgate: the limit of 2 model turns is reached"
    assert witness.provider_error is None
    for most in (2, None):
        spec = RouteSpec(mode=Mode.REPLAY, tape=tape, max_turns=most)
        with gateway.open_route(spec) as route:
            assert [post(route.base_url, asked(str(n))).status for n in range(4)] == statuses
            assert route.witness() == witness


def test_a_large_body_passes_and_a_huge_one_is_refused(
    gateway, scripted, live, post, asked, message
):
    """5 MB is a long conversation; 50 MB is a mistake, and an error in words."""
    scripted.say(message())
    with gateway.open_route(live()) as route:
        assert post(route.base_url, asked("x" * 5_000_000)).status == 200
        huge = post(route.base_url, asked("x" * 50_000_000))
        assert huge.status == 413
        assert "MiB" in huge.json["error"]["message"]
        assert post(route.base_url, asked()).status == 200


def test_a_client_that_leaves_is_recorded_as_gone(gateway, scripted, live, asked, post, tmp_path):
    """Its half of a stream never answers a whole request later."""
    gate = threading.Event()
    pieces = [DELTA.format(0, "x" * 2000).encode()] * 200
    scripted.say(*pieces, content_type=STREAM, gate=gate)
    with gateway.open_route(live()) as route:
        url = urlsplit(route.base_url)
        with socket.create_connection((url.hostname, url.port)) as client:
            body = b'{"model":"m"}'
            head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
            client.sendall(f"{head}\r\n\r\n".encode() + body)
            assert client.recv(100)
        time.sleep(0.1)
        gate.set()
        tape = sealed(route, tmp_path / "1.json")
        witness = route.witness()
    assert tape.exchanges[0].ending is Ending.CLIENT_GONE
    assert len(tape.exchanges[0].body) < len(b"".join(pieces))
    assert witness.provider_error is None
    with gateway.open_route(RouteSpec(mode=Mode.REPLAY, tape=tape)) as route:
        assert not post(route.base_url, b'{"model":"m"}').whole


def test_stop_cuts_what_does_not_end(gateway, scripted, live, asked, post):
    """A provider that hangs does not hold up the end of a trial."""
    gate = threading.Event()
    scripted.say(DELTA.format(0, "a").encode(), b"never", content_type=STREAM, gate=gate)
    with gateway.open_route(live()) as route:
        asking = threading.Thread(target=post, args=(route.base_url, asked()))
        asking.start()
        while not scripted.heard:
            time.sleep(0.01)
        begin = time.monotonic()
        route.stop()
        assert 1.5 < time.monotonic() - begin < 4
        (exchange,) = route.witness().exchanges
    gate.set()
    asking.join()
    assert exchange.ending is Ending.CLIENT_GONE


def test_the_witness_of_a_tool_loop(gateway, scripted, live, post, message):
    """Calls in order, outputs from the next request, times between; the last text is the answer."""
    first = {"id": "a", "name": "bash", "input": {"command": "ls"}}
    second = {"id": "b", "name": "bash", "input": {"command": "false"}}
    scripted.say(message("", first, second))
    scripted.say(message("All done."))
    ask = {"role": "user", "content": "go"}
    results = [
        {"type": "tool_result", "tool_use_id": "b", "content": "exit 1", "is_error": True},
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "f.py"}]},
    ]
    with gateway.open_route(live()) as route:
        said = post(route.base_url, {"model": "m", "messages": [ask]}).json["content"]
        time.sleep(0.05)
        messages = [ask, {"role": "assistant", "content": said}, {"role": "user", "content": results}]
        post(route.base_url, {"model": "m", "messages": messages})
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


def test_a_gateway_leaves_no_thread_and_no_port(scripted, live, post, asked, message):
    """Everything it opened is closed when its context ends."""
    scripted.say(message())
    with open_gateway(redactor=Redactor({})) as gateway, gateway.open_route(live()) as route:
        post(route.base_url, asked())
        port = gateway.port
    assert "evalgate-gateway" not in {thread.name for thread in threading.enumerate()}
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    route.stop()
    assert len(route.witness().exchanges) == 1

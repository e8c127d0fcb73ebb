"""Whatever comes, from a client or from a file, is answered in words."""

from __future__ import annotations

import http.client
import json
import logging
from dataclasses import replace
from urllib.parse import urlsplit

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.scrubs import usual_scrubs
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, dump_cassette, load_cassette, open_replay
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.format.header import Header, Scrubbed
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying, key_again
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.witness.witness import witness_of

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent",
    "passthrough": "/v1/embeddings",
}
SAID = {"role": "user", "content": [{"type": "text", "text": "hi\nthere"}]}
ASKED = {"model": "m", "system": "s", "tools": [{"name": "t"}], "messages": [SAID], "input": [SAID]}
EVENTS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"hello"}}\n\n'
)
odd = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
names = st.sampled_from([*ASKED, "content", "parts", "$lines", ""])
anything = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)
)
paths = st.sampled_from(sorted(PATHS))


def exchange(dialect: str, request: object, body: bytes) -> Exchange:
    """Return an exchange as the gateway would keep it."""
    keyed = Keying(Cleaner(redactor=Redactor({}), places={})).keyed(
        DIALECTS[dialect], "POST", PATHS[dialect], json.dumps(request).encode()
    )
    one = Exchange(
        dialect=dialect, method="POST", path=PATHS[dialect], request=keyed.request, key="",
        status=200, body=body,
    )  # fmt: skip
    return replace(one, key=key_again(one))


WHOLE = json.loads(
    dump_cassette(
        CassetteFile(
            header=Header(task="t", scrubs=Scrubbed(keys=1, rules="x"), places={"REPO": "/r"}),
            exchanges=(
                exchange("anthropic", ASKED, EVENTS),
                exchange("openai-chat", {**ASKED, "messages": [SAID, SAID]}, b'{"choices": []}'),
                exchange("gemini", {"contents": [SAID]}, b"no JSON"),
            ),
            claim={"changed": {}},
            record={"agent": {}},
        )
    )
)


@st.composite
def damaged(draw: st.DrawFn) -> object:
    """Draw a cassette in which one value, somewhere, is another one."""
    value = json.loads(json.dumps(WHOLE))
    del value["sha256"]
    place = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return value
        key = draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 3)) == 0:
            break
        place = inner
    if isinstance(place, dict) and draw(st.booleans()):
        del place[key]
    else:
        place[key] = draw(anything.filter(_writable))
    return value


def _writable(value: object) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_a_damaged_cassette_is_refused_by_name_or_is_one(sealed, value):
    """Its digest was made to fit, so that only what it says is wrong."""
    data = sealed(value)
    try:
        tape = load_cassette(data, name="tapes/1.json")
    except UsageError:
        with pytest.raises(UsageError, match=r"tapes/1\.json"):
            load_cassette(data, name="tapes/1.json")
        return
    witness_of(tape.exchanges)
    with open_replay(tape, scrubs=usual_scrubs(also=["uuid"])) as played:
        for one in played.exchanges:
            assert played.play(one.key) is not None


@given(paths, anything | st.binary(), paths, anything)
def test_any_two_requests_can_be_compared(dialect, asked, other, recorded):
    """The explanation of a miss is given whatever the two bodies are."""
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    keyed = Keying(Cleaner(redactor=Redactor({}), places={})).keyed(
        DIALECTS[dialect], "POST", PATHS[dialect], body
    )
    tape = [exchange(other, recorded, b"{}")]
    miss = explain(keyed, tape, frozenset())
    assert miss.sentence
    assert miss.explanation


def test_any_body_is_answered_in_the_dialect_s_own_words(wire, caplog):
    """Two hundred bodies for each API; the gateway never fails itself."""
    caplog.set_level(logging.DEBUG, logger="evalgate")
    bodies = _bodies()
    empty = CassetteFile(header=Header(), exchanges=(), claim={}, record={})
    with wire.replay(empty) as route:
        url = urlsplit(route.base_url)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
        for path in PATHS.values():
            for body in bodies:
                connection.request("POST", url.path + path, body, {"content-type": "a/b"})
                answer = connection.getresponse()
                said = json.loads(answer.read())
                assert answer.status == 400, body
                assert "replay diverged" in json.dumps(said)
        connection.close()
    assert not [one for one in caplog.records if one.exc_info]


def _bodies() -> list[bytes]:
    found: list[bytes] = []

    @settings(max_examples=200, database=None)
    @given(st.binary() | anything.map(lambda value: json.dumps(value).encode()))
    def collect(body: bytes) -> None:
        found.append(body)

    collect()
    return found

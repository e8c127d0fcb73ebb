"""The file: exact, whole or refused, readable as a diff, and free of secrets."""

from __future__ import annotations

import json
import string
import sys
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.identity import Conditions
from evalgate.core.redaction import Redactor
from evalgate.core.trial import Evidence
from evalgate.errors import UsageError
from evalgate.gateway.cassette import (
    CassetteFile,
    dump_cassette,
    load_cassette,
    open_replay,
    write_recording,
)
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.format.header import Header, Scrubbed
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying, key_again


def stored(body: bytes):
    """Return a body in stored form."""
    keying = Keying(Cleaner(redactor=Redactor({}), places={}, scrubs=()))
    return keying.keyed(DIALECTS["anthropic"], "POST", "/v1/messages", body).request


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["a\nb", "\n", "\r\n", "\r", "\0", "\u2028", "\ufeff", ""])
)
names = st.text(string.ascii_letters + "$\n", max_size=4) | st.sampled_from(
    ["$lines", "$$lines", "whole", "keep", "messages"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4)
)
objects = st.dictionaries(names, values, max_size=4)
canonical = objects.map(lambda value: orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
bodies = st.binary() | canonical | st.sampled_from(
    [b"", b"\xff\xfe", b"a\r\nb\rc\n", b"\0", "\u2028".encode(), b'{"a":1,"a":2}', b'{"a": 1}',
     b'{"n":123456789012345678901234567890}', b"[" * 500, b'{"a":[1,true,1.0,-0.0]}']
)  # fmt: skip
exchanges = st.builds(
    Exchange,
    dialect=st.sampled_from(["anthropic", "openai-chat"]),
    method=st.just("POST"),
    path=st.sampled_from(["/v1/messages", "/v1/chat/completions", "/a?b#c"]),
    request=bodies.map(stored),
    key=st.just(""),
    query=st.sampled_from(["", "alt=sse"]),
    asked=st.dictionaries(st.sampled_from(["anthropic-version", "anthropic-beta"]), st.text("a1")),
    cuts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))).map(tuple),
    status=st.integers(100, 599),
    headers=st.dictionaries(st.text(string.ascii_lowercase, min_size=1), st.text("a\nb")),
    body=bodies,
    ending=st.sampled_from(Ending),
    began=st.floats(0, 1e6),
    seconds=st.floats(0, 1e6),
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
headers = st.builds(
    Header,
    places=st.dictionaries(names, texts, max_size=3),
    scrubs=st.none()
    | st.builds(
        Scrubbed,
        keys=st.integers(0, 9),
        rules=texts,
        hits=st.dictionaries(names, st.integers(1, 9), max_size=3),
    ),
    recorder=texts,
    recorded=st.sampled_from(["", "2026-02-03"]),
    evalgate=texts,
    recording=st.integers(0, 9),
    recording_id=texts,
    models=st.dictionaries(names, texts, max_size=3),
    fingerprint=texts,
    parts=st.dictionaries(names, texts, max_size=3),
    task=texts,
    task_digest=texts,
    series=texts,
    n=st.integers(0, 9),
    evidence=st.none() | st.sampled_from(Evidence),
    conditions=st.none() | st.builds(Conditions, sandbox=texts, agent=texts),
)
files = st.builds(
    CassetteFile,
    header=headers,
    exchanges=st.lists(exchanges, max_size=5).map(tuple),
    claim=objects,
    record=objects,
)


def exchange(**more) -> Exchange:
    """Return an exchange like others but for what is given."""
    plain = {"method": "POST", "path": "/v1/messages", "request": b"{}", "key": "", **more}
    request = stored(plain.pop("request"))
    return key_again_of(Exchange(dialect="anthropic", status=200, request=request, **plain))


def key_again_of(one: Exchange) -> Exchange:
    """Return an exchange with its key."""
    return replace(one, key=key_again(one))


def cassette(*exchanges, **more) -> CassetteFile:
    """Return a cassette like others but for what is given."""
    parts = {"header": Header(task="t"), "claim": {}, "record": {}, **more}
    return CassetteFile(exchanges=exchanges, **parts)


def turn(*texts) -> bytes:
    """Return a request of a conversation that has grown to these messages."""
    body = {"messages": list(texts), "model": "m", "system": "word\n" * 50, "tools": ["x" * 90]}
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


@given(files)
def test_what_is_written_is_read(file):
    """Every byte of requests and responses, and all JSON of the caller."""
    data = dump_cassette(file)
    read = load_cassette(data, name="x")
    assert (read.header, read.claim, read.record) == (file.header, file.claim, file.record)
    assert read.exchanges == tuple(map(key_again_of, file.exchanges))
    assert [one.request.data for one in read.exchanges] == [
        one.request.data for one in file.exchanges
    ]
    assert dump_cassette(read) == data
    assert read.digest == orjson.loads(data)["sha256"]


@given(files)
def test_what_is_written_can_be_diffed(file):
    """UTF-8, line feeds, one order of members, one space a level, a last line end."""
    data = dump_cassette(file)
    assert data.endswith(b"}\n")
    assert b"\r" not in data
    parsed = json.loads(data)
    assert list(parsed) == [
        "format", "header", "parts", "exchanges", "claim", "record", "sha256",
    ]  # fmt: skip
    assert data.startswith(b'{\n "format": 2,\n "header": {')


def test_a_turn_is_told_by_what_it_adds():
    """A long prompt stands in the file once; one changed word is one changed line."""
    texts = [f"message {n}" for n in range(20)]
    file = cassette(*(exchange(request=turn(*texts[:n])) for n in range(1, 20)))
    data = dump_cassette(file)
    assert data.count(b"x" * 90) == 1
    assert all(data.count(f'"message {n}"'.encode()) == 1 for n in range(19))
    assert load_cassette(data, name="x").exchanges == file.exchanges
    edited = [
        exchange(request=one.request.data.replace(b"word", b"term", 1)) for one in file.exchanges
    ]
    changed = set(dump_cassette(cassette(*edited)).split(b"\n")) ^ set(data.split(b"\n"))
    assert sorted(line.strip().split(b":")[0] for line in changed) == [
        b'"sha256"',
        b'"sha256"',
        b'"term",',
    ]


def test_values_that_python_takes_for_equal_stay_apart():
    """1, 1.0 and true are three values in JSON."""
    requests = [b'{"a":1,"b":[1]}', b'{"a":1.0,"b":[true]}', b'{"a":true,"b":[1.0]}']
    file = cassette(*(exchange(request=request) for request in requests))
    read = load_cassette(dump_cassette(file), name="x")
    assert [one.request.data for one in read.exchanges] == requests


def test_a_file_cut_anywhere_is_refused_by_name():
    """Never an empty cassette, never half a one."""
    data = dump_cassette(cassette(exchange(request=turn("a"), body=b"data: x\n\n" * 20)))
    for length in range(0, len(data), 50):
        with pytest.raises(UsageError, match=r"tapes/1\.json"):
            load_cassette(data[:length], name="tapes/1.json")


def test_an_edited_byte_is_refused_by_name():
    """In a value, in the white space, in the digest: the file is as it was written or not."""
    data = dump_cassette(cassette(exchange(request=turn("a"), body=b"line\nline")))
    for at in range(0, len(data), 3):
        edited = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(UsageError, match=r"tapes/1\.json"):
            load_cassette(edited, name="tapes/1.json")
    for edited in (data + b"\n", data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data):
        with pytest.raises(UsageError, match=r"tapes/1\.json"):
            load_cassette(edited, name="tapes/1.json")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no whole cassette"),
        (b"null", "names no format"),
        (b"{}", "names no format"),
        (b'{"format": "1"}', "names no format"),
        (b'{"format": 3, "what": "ever"}', "format 3, newer than 2"),
        (b'{"format": 1}', "format 1, which is no longer read"),
        (b'{"format": 2}', "digest"),
        (b"version https://git-lfs.github.com/spec/v1\n", "no whole cassette"),
    ],
)
def test_what_is_no_cassette_of_ours_is_refused_by_name(data, words):
    """A newer format is not guessed at."""
    with pytest.raises(UsageError, match=words) as caught:
        load_cassette(data, name="tapes/1.json")
    assert "tapes/1.json" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "leaking",
    [
        cassette(header=Header(models={"a": "hunter2hunter2"})),
        cassette(claim={"a": ["x\nhunter2hunter2\n"]}),
        cassette(claim={"a": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"}),
        cassette(record={"hunter2hunter2": 1}),
        cassette(exchange(request=b"hunter2hunter2")),
        cassette(exchange(body=b"\xff hunter2hunter2")),
        cassette(exchange(headers={"request-id": "hunter2hunter2"})),
        cassette(
            exchange(body=b'data: {"delta":{"t":"hunter2"}}\n\ndata: {"delta":{"t":"hunter2"}}')
        ),
    ],
)
def test_a_secret_is_refused_wherever_it_stands(leaking):
    """Also where lines, base64 or the pieces of a stream would hide it in the file."""
    redactor = Redactor({"TOKEN": "hunter2hunter2"})
    with pytest.raises(UsageError, match="secret"):
        dump_cassette(leaking, redactor=redactor)


def test_a_refused_secret_is_told_with_its_place():
    """Task, trial and exchange: whoever looks for it knows where."""
    body = b'{"said":"hunter2hunter2"}'
    leaking = cassette(exchange(), exchange(body=body))
    leaking = replace(leaking, header=replace(leaking.header, task="double", n=2))
    with pytest.raises(UsageError, match=r"secret: TOKEN \(task double #2, exchange 1\)$"):
        dump_cassette(leaking, redactor=Redactor({"TOKEN": "hunter2hunter2"}))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 2**70, {1, 2}, "\ud800"])
def test_what_json_can_not_say_is_refused(odd):
    """Nothing is stored as something else."""
    with pytest.raises(UsageError, match="can not hold"):
        dump_cassette(cassette(record={"odd": odd}))


def test_a_recording_takes_the_place_of_a_file_in_one_step(tmp_path):
    """An error while recording leaves the file that was there, and nothing beside it."""
    path = tmp_path / "1.json"
    digest = write_recording(path, cassette=cassette(exchange()), redactor=Redactor({}))
    before = path.read_bytes()
    assert digest == load_cassette(before, name="it").digest
    refused = cassette(claim={"t": "AKIAIOSFODNN7EXAMPLE"})
    with pytest.raises(UsageError):
        write_recording(path, cassette=refused, redactor=Redactor({}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_recording_starts_empty(tmp_path):
    """What was in the file before is not kept."""
    path = tmp_path / "1.json"
    for body in (b"one", b"two"):
        write_recording(path, cassette=cassette(exchange(body=body)), redactor=Redactor({}))
    assert [one.body for one in load_cassette(path.read_bytes(), name="it").exchanges] == [b"two"]


def test_a_tape_plays_each_exchange_once_in_order():
    """FIFO within a key, and any order across keys."""
    one, two = exchange(body=b"1"), exchange(body=b"2")
    other = exchange(request=b'{"a":1}', body=b"3")
    with open_replay(cassette(one, other, two)) as tape:
        key = tape.exchanges[0].key
        assert tape.unused == 3
        assert [found.body for found in (tape.play(key), tape.play(key)) if found] == [b"1", b"2"]
        assert tape.play(key) is None
        assert tape.play("other") is None
        assert (tape.unused, tape.played) == (1, {0, 2})
        left = tape.exchanges[1]
        assert tape.peek(left.key) is left
        assert tape.play(left.key) is left
        assert tape.peek(left.key) is None


def test_the_package_imports_nothing():
    """The engine comes when the first tape is opened."""
    import subprocess

    code = "import sys, evalgate.gateway, evalgate.gateway.cassette; print('vcr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"

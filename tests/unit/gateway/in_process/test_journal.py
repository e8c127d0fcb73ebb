"""A recording that does not end well: what was answered is kept, apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evalgate.vcr
from evalgate.gateway.cassette import load_cassette
from evalgate.gateway.format.journal import load_journal
from tests.unit.gateway.in_process.conftest import KEY, post

KILLED = """
import sys, time
import evalgate.vcr
from tests.unit.gateway.in_process.conftest import post

with evalgate.vcr.use_cassette(sys.argv[1], mode="record", secrets={"PROVIDER": sys.argv[3]}):
    for text in "ab":
        post(sys.argv[2], text)
    print("asked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def file(bedrock, tmp_path):
    """Return a cassette that was recorded well."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "before")
    assert [path.name for path in tmp_path.iterdir()] == ["1.json"]
    return file


def kept(file):
    """Return what the journal beside a cassette holds; it is written behind the agent's back."""
    data = file.with_name(f"{file.name}.journal").read_bytes()
    return load_journal(data, name="it").exchanges if data else ()


def break_off(bedrock, file):
    """Begin to record, and fail."""
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "a")
        raise ZeroDivisionError


def test_an_error_while_recording_replaces_nothing(bedrock, file):
    """Half a recording is none; what was answered stands in the journal."""
    before = file.read_bytes()
    with pytest.raises(ZeroDivisionError):
        break_off(bedrock, file)
    assert file.read_bytes() == before
    assert [b'"echo": "a"' in one.body for one in kept(file)] == [True]


def test_a_killed_process_leaves_what_was_answered(bedrock, file):
    """Without keys; and the next recording begins anew."""
    before = file.read_bytes()
    argv = [sys.executable, "-c", KILLED, file, bedrock.url, KEY]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"asked\n"
            while len(kept(file)) < 2:
                assert process.poll() is None
        finally:
            process.kill()
    assert file.read_bytes() == before
    assert [one.status for one in kept(file)] == [200, 200]
    assert KEY.encode() not in file.with_name("1.json.journal").read_bytes()
    with evalgate.vcr.use_cassette(file, mode="record"):
        assert kept(file) == ()
        post(bedrock.url, "anew")
    (only,) = load_cassette(file.read_bytes(), name="it").exchanges
    assert b"anew" in only.body
    assert [path.name for path in file.parent.iterdir()] == ["1.json"]

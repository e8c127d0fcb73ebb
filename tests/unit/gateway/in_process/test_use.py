"""Agents that can not be given a base URL: recorded and replayed inside their own process."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import aiohttp
import pytest

import evalgate.vcr
from evalgate.errors import DivergedError, UsageError
from evalgate.gateway.cassette import load_cassette
from tests.unit.gateway.in_process.conftest import HEADERS, KEY, PATH, by_urllib, post


async def post_async(url, text):
    """Ask with another library."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(url + PATH, json={"text": text}, headers=HEADERS) as response,
    ):
        return await response.json()


@pytest.mark.parametrize("ask", [by_urllib, post, lambda *said: asyncio.run(post_async(*said))])
def test_what_was_recorded_is_replayed_without_the_provider(bedrock, tmp_path, ask):
    """In order, each answer once; key, cookie and session nowhere in the file."""
    file = tmp_path / "ein Ordner" / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record", secrets={"PROVIDER": KEY}):
        first = [ask(bedrock.url, text)["n"] for text in ("a", "b", "a")]
    assert first == [1, 2, 3]
    data = file.read_bytes()
    assert not [word for word in (KEY.encode(), b"session", b"random") if word in data]
    assert len(load_cassette(data, name="it").exchanges) == 3
    with evalgate.vcr.use_cassette(file, secrets={"PROVIDER": KEY}):
        again = [ask(bedrock.url, text) for text in ("a", "a", "b")]
    assert [one["n"] for one in again] == [1, 3, 2]
    assert again[0]["key"] == "<secret:PROVIDER>"
    assert bedrock.asked == 3
    assert file.read_bytes() == data


def test_a_miss_never_reaches_the_provider_and_is_explained(bedrock, tmp_path):
    """Also when the client swallows it."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record"):
        post(bedrock.url, "what is asked")
    with (
        pytest.raises(DivergedError, match="text") as caught,
        evalgate.vcr.use_cassette(file),
        pytest.raises(DivergedError),
    ):
        post(bedrock.url, "what is asked now")
    assert "exchange 0" in caught.value.message
    with pytest.raises(DivergedError, match="already played"):
        ask_twice(bedrock, file)
    assert bedrock.asked == 1


def ask_twice(bedrock, file):
    """Replay a request that was recorded once, twice."""
    with evalgate.vcr.use_cassette(file):
        post(bedrock.url, "what is asked")
        post(bedrock.url, "what is asked")


@pytest.mark.parametrize("there", [False, True])
def test_a_path_that_is_a_link_is_written_through(bedrock, tmp_path, there):
    """The link stays, and leads to the cassette: also where nothing lay before."""
    target, link = tmp_path / "far" / "away.json", tmp_path / "1.json"
    if there:
        target.parent.mkdir()
        target.write_text("an older one")
    link.symlink_to("far/away.json")
    with evalgate.vcr.use_cassette(link, mode="record"):
        post(bedrock.url, "a")
    assert link.is_symlink()
    assert not target.is_symlink()
    assert len(load_cassette(target.read_bytes(), name="it").exchanges) == 1
    with evalgate.vcr.use_cassette(link):
        post(bedrock.url, "a")
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["1.json", "away.json", "far"]


def test_live_does_nothing(bedrock, tmp_path):
    """One switch for all three."""
    with evalgate.vcr.use_cassette(tmp_path / "1.json", mode="live"):
        assert post(bedrock.url, "a")["key"] == KEY
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path):
    """An unknown mode; a file to read that is none; a place where none can be written."""
    (tmp_path / "odd.json").write_text("{}")
    (tmp_path / "loop.json").symlink_to("loop.json")
    wrong = [("x", "onec"), ("missing.json", "replay"), ("odd.json", "replay"), (".", "replay")]
    wrong += [(path, "record") for path in (".", "odd.json/1.json", "long" * 99, "loop.json")]
    for path, mode in wrong:
        with (
            pytest.raises(UsageError) as caught,
            evalgate.vcr.use_cassette(tmp_path / path, mode=mode),
        ):
            pytest.fail("it was opened")
        assert caught.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop.json", "odd.json"]


@pytest.mark.parametrize("wrong", [{"secrets": {"X": 5}}, {"places": {"X": None}}])
def test_what_is_no_text_is_told_in_words(tmp_path, wrong):
    """By its name and kind."""
    with (
        pytest.raises(UsageError, match="'X' is a ") as caught,
        evalgate.vcr.use_cassette(tmp_path / "1.json", mode="record", **wrong),
    ):
        pytest.fail("it was opened")
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_importing_it_loads_no_engine():
    """VCR.py patches nothing until a context is entered."""
    code = "import sys, evalgate.vcr; print('vcr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


def test_recorded_paths_lead_where_the_agent_works_now(bedrock, tmp_path):
    """In what the provider said, as in what it was asked."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record", places={"REPO": "/work/first/repo"}):
        post(bedrock.url, "look at /work/first/repo/calc.py")
    with evalgate.vcr.use_cassette(file, places={"REPO": "/srv/second"}):
        answer = post(bedrock.url, "look at /srv/second/calc.py")
    assert answer["echo"] == "look at /srv/second/calc.py"
    assert bedrock.asked == 1


def test_the_cassette_says_who_recorded_it_and_when(bedrock, tmp_path):
    """The rest of a trial's header has no meaning here."""
    file = tmp_path / "1.json"
    with evalgate.vcr.use_cassette(file, mode="record", places={"REPO": "/work/repo"}):
        post(bedrock.url, "a")
    header = load_cassette(file.read_bytes(), name="it").header
    assert sorted(header.to_json()) == ["places", "recorded", "recorder", "scrubs"]
    assert header.recorder == "evalgate.vcr"
    assert header.places == {"REPO": "/work/repo"}

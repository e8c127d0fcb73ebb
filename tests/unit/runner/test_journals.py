"""What a killed run had recorded is found again, and only what is as it was written."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import StoredRequest
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import open_journal
from evalgate.gateway.keys.cleaning import USUAL
from evalgate.gateway.keys.matching import key_again
from evalgate.gateway.keys.rescrubbing import scrubbed_by
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.journals import paid_for, remove_journals, take_up, top_up
from evalgate.store.runs import RunFolder


def answer(text: str) -> bytes:
    """Return a whole reply."""
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 1, "output_tokens": 1}
    return orjson.dumps({"type": "message", "content": content, "stop_reason": "x", "usage": usage})


def exchange(said: str, *, status: int = 200, text: str = "yes") -> Exchange:
    """Return a request with its answer."""
    one = Exchange(
        dialect="anthropic",
        method="POST",
        path="/v1/messages",
        request=StoredRequest(raw=said.encode()),
        key="",
        status=status,
        body=answer(text),
    )
    return replace(one, key=key_again(one))


ONE, TWO, THREE = map(exchange, ("one", "two", "three"))


@pytest.fixture
def run(tmp_path):
    """A run folder."""
    return RunFolder(tmp_path / "run")


def write(path, *exchanges, places=None):
    """Write a journal."""
    header = Header(places=places or {}, scrubs=scrubbed_by(USUAL))
    with open_journal(path, header=header, redactor=Redactor({})) as journal:
        for slot, one in enumerate(exchanges):
            journal.append(slot, one)


def test_without_a_journal_there_is_nothing_to_play(run):
    """It says where the first one goes."""
    kept = take_up(run, "task", 1)
    assert kept.tape is None
    assert kept.journal.parent == cassette_path(run, "task", 1).parent
    assert kept.journal != kept.old


def test_what_was_answered_is_played_and_errors_are_met_again(run):
    """The new attempt writes another file: this one is still needed when it is killed too."""
    write(take_up(run, "task", 1).journal, ONE, exchange("bad", status=500), TWO)
    kept = take_up(run, "task", 1)
    assert kept.tape is not None
    assert kept.tape.exchanges == (ONE, TWO)
    assert kept.old.exists()
    assert not kept.journal.exists()


@pytest.mark.parametrize(("first", "second"), [((ONE, TWO), (ONE,)), ((ONE,), (ONE, TWO))])
def test_of_two_attempts_the_one_that_got_further_counts(run, first, second):
    """Whichever that was."""
    write(take_up(run, "task", 1).journal, *first)
    write(take_up(run, "task", 1).journal, *second)
    kept = take_up(run, "task", 1)
    assert kept.tape is not None
    assert kept.tape.exchanges == (ONE, TWO)


def test_a_damaged_journal_is_named(run):
    """It is neither played nor written over."""
    journal = take_up(run, "task", 1).journal
    write(journal, ONE, TWO)
    journal.write_bytes(journal.read_bytes().replace(b"two", b"TWO"))
    with pytest.raises(UsageError, match=journal.name):
        take_up(run, "task", 1)
    assert journal.exists()


@pytest.mark.parametrize("size", [0, 1, 40])
def test_a_kill_before_the_first_line_leaves_nothing_to_play(run, size):
    """The file is there, and holds nothing or half a line."""
    journal = take_up(run, "task", 1).journal
    write(journal, ONE)
    journal.write_bytes(journal.read_bytes()[:size])
    assert paid_for(run, "task", 1, recorded=None, scrubs=USUAL) == []
    assert take_up(run, "task", 1).tape is None


def test_what_all_attempts_asked_was_paid_for(run):
    """Each once; what the recording holds was only played."""
    write(take_up(run, "task", 1).journal, ONE, TWO)
    write(take_up(run, "task", 1).journal, ONE, THREE)
    assert paid_for(run, "task", 1, recorded=None, scrubs=USUAL) == [ONE, TWO, THREE]
    assert paid_for(run, "task", 1, recorded=recorded(ONE), scrubs=USUAL) == [TWO, THREE]
    assert take_up(run, "task", 1).dropped == (THREE,)


def test_a_whole_run_has_no_journals(run):
    """Those of a process that died between two steps as well."""
    for n in (1, 2):
        write(take_up(run, "task", n).journal, ONE)
    kept = take_up(run, "task", 2)
    write(kept.journal, ONE)
    assert len(list(run.path.rglob("*.journal*"))) == 3
    remove_journals(run)
    assert not list(run.path.rglob("*.journal*"))


def recorded(*exchanges, places=None) -> CassetteFile:
    """Return a recording."""
    header = Header(places=places or {}, scrubs=scrubbed_by(USUAL))
    return CassetteFile(header=header, exchanges=exchanges, claim={}, record={}, digest="d")


def test_a_top_up_that_was_never_killed_plays_the_recording():
    """And has asked nothing."""
    assert top_up(recorded(ONE), None, USUAL).tape == recorded(ONE)
    assert top_up(recorded(ONE), None, USUAL).asked == 0


def test_what_a_killed_top_up_asked_comes_behind_the_recording(run):
    """What it had played stands in its journal too, and comes once; each in its order."""
    write(take_up(run, "task", 1).journal, ONE, ONE, THREE)
    found = top_up(recorded(ONE, TWO), take_up(run, "task", 1).tape, USUAL)
    assert found.tape.exchanges == (ONE, TWO, ONE, THREE)
    assert found.asked == 2


def test_the_recording_moves_to_where_the_killed_top_up_was(run):
    """A tape has one set of places, and its replies must name those."""
    said = exchange("x", text="look in /old/repo/a.py")
    write(take_up(run, "task", 1).journal, ONE, places={"REPO": "/new/repo"})
    tape = take_up(run, "task", 1).tape
    found = top_up(recorded(said, places={"REPO": "/old/repo"}), tape, USUAL)
    assert found.tape.exchanges[0].body == answer("look in /new/repo/a.py")
    assert found.tape.header.places == {"REPO": "/new/repo"}

"""A killed recording keeps the exchanges it had finished."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import orjson
import pytest

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece, StoredRequest
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import load_journal, open_journal
from evalgate.gateway.keys.matching import key_again


def exchange(*said: str, **more) -> Exchange:
    """Return one turn of a conversation."""
    pieces = tuple(Piece.of(orjson.dumps(one)) for one in said)
    request = StoredRequest(members={"messages": pieces, "model": Piece.of(b'"m"')})
    plain = {"method": "POST", "path": "/v1/messages", "status": 200, "body": b'{"a":1}', **more}
    one = Exchange(dialect="anthropic", request=request, key="", **plain)
    return replace(one, key=key_again(one))


HEADER = Header(places={"REPO": "/r"})
TURNS = [exchange("a"), exchange("a", "b", "c"), exchange("x"), exchange("a", "b", "c", "d", "e")]


def journalled(path, turns, **secrets) -> bytes:
    """Write a journal and return its bytes."""
    with open_journal(path, header=HEADER, redactor=Redactor(secrets)) as journal:
        for slot, one in enumerate(turns):
            journal.append(slot, one)
    return path.read_bytes()


def test_what_was_kept_is_read(tmp_path):
    """In order, each piece written once."""
    data = journalled(tmp_path / "new folder" / "1.journal", TURNS)
    read = load_journal(data, name="it")
    assert (read.exchanges, read.header) == (tuple(TURNS), HEADER)
    assert data.count(b'"b"') == 1


def test_a_journal_cut_anywhere_gives_what_was_whole(tmp_path):
    """The process died while it wrote; nothing else is lost, nothing is made up."""
    data = journalled(tmp_path / "1.journal", TURNS)
    seen = set()
    for length in range(1, len(data) + 1):
        read = load_journal(data[:length], name="it").exchanges
        assert read == tuple(TURNS[: len(read)])
        seen.add(len(read))
    assert seen == set(range(len(TURNS) + 1))


def test_the_last_word_on_an_exchange_counts(tmp_path):
    """It was kept as whole before its agent turned out to be gone."""
    gone = replace(TURNS[0], ending=Ending.CLIENT_GONE)
    with open_journal(tmp_path / "j", header=HEADER, redactor=Redactor({})) as journal:
        for slot, one in ((0, TURNS[0]), (1, TURNS[1]), (0, gone)):
            journal.append(slot, one)
    assert load_journal((tmp_path / "j").read_bytes(), name="it").exchanges == (gone, TURNS[1])


def test_a_secret_ends_the_journal(tmp_path):
    """Redaction is meant to have taken it out before; what is left never reaches the disk."""
    leaking = exchange("hunter2hunter2")
    data = journalled(tmp_path / "j", [TURNS[0], leaking, TURNS[1]], TOKEN="hunter2hunter2")
    assert b"hunter2" not in data
    assert load_journal(data, name="it").exchanges == (TURNS[0],)


@pytest.mark.parametrize("data", [b"", b"{}\n", b"[]\n", b"no\n", b'{"kind":"evalgate journal"}\n'])
def test_what_is_no_journal_is_refused_by_name(data):
    """Also one of another format."""
    with pytest.raises(UsageError, match=r"1\.journal") as caught:
        load_journal(data, name="1.journal")
    assert caught.value.hint


def damaged(lines: list[bytes]) -> dict[str, list[bytes]]:
    """Return the lines of a journal, changed in each way there is."""
    other = lines[2].replace(b'"c"', b'"C"')
    assert other != lines[2]
    return {
        "a cut line": [lines[0], lines[1][:40], *lines[2:]],
        "an edited line": [*lines[:2], other, *lines[3:]],
        "an edited digest": [*lines[:2], lines[2][:-4] + b"00" + lines[2][-2:], *lines[3:]],
        "a line without a digest": [*lines[:2], lines[2][:-76] + b"}", *lines[3:]],
        "a removed line": [*lines[:2], *lines[3:]],
        "an added line": [*lines[:2], lines[2], *lines[2:]],
        "swapped lines": [lines[0], lines[2], lines[1], *lines[3:]],
        "an edited header": [lines[0].replace(b"REPO", b"HOME"), *lines[1:]],
        "an edited last line": [*lines[:-2], lines[-2].replace(b'"e"', b'"E"'), b""],
    }


@pytest.mark.parametrize("way", damaged([b"", b"", b'"c"', b"", b""]))
def test_any_other_damage_is_refused_by_name(tmp_path, way):
    """A kill cuts the last line and does nothing else: somebody had a hand in it."""
    lines = journalled(tmp_path / "j", TURNS).split(b"\n")
    with pytest.raises(UsageError, match=r"1\.journal is damaged") as caught:
        load_journal(b"\n".join(damaged(lines)[way]), name="1.journal")
    assert "delete the file" in caught.value.hint


def test_a_place_that_can_not_be_written_is_said_at_once(tmp_path):
    """Before the first request, on the thread that asked for it."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(NotAvailableError, match=r"journal: the journal can not be written"),
        open_journal(tmp_path / "file" / "journal", header=Header(), redactor=Redactor({})),
    ):
        pytest.fail("it was opened")


def test_a_disk_that_is_full_at_the_start_is_said_at_once(tmp_path):
    """There is not even room for its first line."""
    (tmp_path / "journal").symlink_to("/dev/full")
    with (
        pytest.raises(NotAvailableError, match="No space left"),
        open_journal(tmp_path / "journal", header=Header(), redactor=Redactor({})),
    ):
        pytest.fail("it was opened")


def large(seed: int) -> Exchange:
    """Return a turn of 120 KB."""
    return exchange(random.Random(seed).randbytes(60_000).hex())


def overflow(path) -> None:
    """Write more than half a megabyte, and wait until that is seen."""
    with open_journal(path, header=HEADER, redactor=Redactor({})) as journal:
        for slot in range(8):
            journal.append(slot, large(slot))
        while journal.trouble is None:
            time.sleep(0.01)


def test_a_disk_that_fills_up_is_told_and_what_was_kept_stays(small_disk):
    """The trouble is seen while it goes on, and ends the context with an error."""
    with pytest.raises(NotAvailableError, match="No space left") as caught:
        overflow(small_disk / "journal")
    assert "same command" in caught.value.hint
    kept = load_journal((small_disk / "journal").read_bytes(), name="it").exchanges
    assert kept == tuple(map(large, range(len(kept))))
    assert 0 < len(kept) < 8


def break_off(path) -> None:
    """Write too much, and end with an error of one's own."""
    with open_journal(path, header=Header(), redactor=Redactor({})) as journal:
        for slot in range(8):
            journal.append(slot, large(slot))
        raise ValueError("mine")


def test_a_context_that_ended_with_an_error_keeps_its_own(small_disk):
    """What went wrong first is what a person must hear of."""
    with pytest.raises(ValueError, match="mine"):
        break_off(small_disk / "journal")


PROGRAM = """
import sys, time
from pathlib import Path
from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import StoredRequest
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import open_journal
with open_journal(Path(sys.argv[1]), header=Header(), redactor=Redactor({})) as journal:
    for slot in range(3):
        journal.append(slot, Exchange(dialect="anthropic", method="POST", path="/v1/messages",
            request=StoredRequest(raw=b"%d" % slot), key="", status=200))
    print("kept", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_leaves_what_it_had_kept(tmp_path):
    """SIGKILL, which nobody can catch."""
    path = tmp_path / "j"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"kept\n"
        while not path.exists() or path.read_bytes().count(b"\n") < 4:
            assert running.poll() is None
        os.kill(running.pid, signal.SIGKILL)
    kept = load_journal(path.read_bytes(), name="it")
    assert [one.request.raw for one in kept.exchanges] == [b"0", b"1", b"2"]

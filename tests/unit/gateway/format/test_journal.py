"""A killed recording keeps the exchanges it had finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import orjson
import pytest

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece, StoredRequest
from evalgate.errors import UsageError
from evalgate.gateway.format.journal import load_journal, open_journal
from evalgate.gateway.keys.matching import key_again


def exchange(*said: str, **more) -> Exchange:
    """Return one turn of a conversation."""
    pieces = tuple(Piece.of(orjson.dumps(one)) for one in said)
    request = StoredRequest(members={"messages": pieces, "model": Piece.of(b'"m"')})
    plain = {"method": "POST", "path": "/v1/messages", "status": 200, "body": b'{"a":1}', **more}
    one = Exchange(dialect="anthropic", request=request, key="", **plain)
    return replace(one, key=key_again(one))


HEADER = {"places": {"REPO": "/r"}}
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


def test_damage_before_the_end_is_refused_by_name(tmp_path):
    """A line that was written whole is whole."""
    lines = journalled(tmp_path / "j", TURNS).split(b"\n")
    damaged = b"\n".join([lines[0], lines[1][:40], *lines[2:]])
    with pytest.raises(UsageError, match=r"1\.journal"):
        load_journal(damaged, name="1.journal")


PROGRAM = """
import sys, time
from pathlib import Path
from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import StoredRequest
from evalgate.gateway.format.journal import open_journal
with open_journal(Path(sys.argv[1]), header={}, redactor=Redactor({})) as journal:
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

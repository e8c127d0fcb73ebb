"""A piece is cleaned once, for all who clean alike, and counted for each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece
from evalgate.core.scrubs import usual_scrubs
from evalgate.gateway.keys import cleaning
from evalgate.gateway.keys.canonical import encode
from evalgate.gateway.keys.cleaning import Cleaner, Pieces

SAID = b'{"text":"hunter2hunter2 in /tmp/run, Process Group PGID: 12"}'
STORED = b'{"text":"<secret:TOKEN> in <REPO>, Process Group PGID: <N>"}'
PLACES = {"REPO": "/tmp/run"}
SECRETS = {"TOKEN": "hunter2hunter2"}


def cleaner(pieces: Pieces | None = None, **other) -> Cleaner:
    """Return one that knows a secret and a place."""
    known = {"redactor": Redactor(SECRETS), "places": PLACES, **other}
    return Cleaner(pieces=pieces, **known)


def test_what_is_replaced_is_counted_once_for_each_distinct_piece():
    """Secrets, places and rules of scrubbing."""
    one = cleaner()
    assert [one.piece(SAID, "gemini").data for _ in range(3)] == [STORED] * 3
    assert one.hits == {"secrets": 1, "places": 1, "process-group": 1}


def test_trials_that_clean_alike_share_pieces_and_each_counts():
    """A suite repeats its prompts; a trial's report tells of that trial."""
    pieces = Pieces()
    one, other = cleaner(pieces), cleaner(pieces)
    assert one.piece(SAID, "gemini") is other.piece(SAID, "gemini")
    assert one.hits == other.hits == {"secrets": 1, "places": 1, "process-group": 1}


def test_who_cleans_otherwise_shares_nothing():
    """Other secrets, other places, other rules, another dialect."""
    pieces = Pieces()
    cleaner(pieces).piece(SAID, "gemini")
    said = {
        cleaner(pieces).piece(SAID, "gemini").data,
        cleaner(pieces, redactor=Redactor({})).piece(SAID, "gemini").data,
        cleaner(pieces, places={"REPO": "/other"}).piece(SAID, "gemini").data,
        cleaner(pieces, scrubs=usual_scrubs(without=["process-group"])).piece(SAID, "gemini").data,
    }
    assert len(said) == 4


def test_a_recorded_piece_is_taken_as_it_is():
    """In a replay: who says the same, byte for byte, says that piece."""
    one = cleaner()
    piece = Piece.of(SAID)
    one.know(piece, "gemini")
    assert one.piece(SAID, "gemini") is piece
    assert one.piece(SAID, "anthropic").data == STORED


def test_the_memory_of_pieces_is_bounded_for_trials_that_come(monkeypatch):
    """Too much of it is forgotten; a trial under way keeps what it has."""
    monkeypatch.setattr(cleaning, "_MOST_HELD", len(SAID))
    pieces = Pieces()
    one, other = cleaner(pieces), cleaner(pieces)
    first = one.piece(SAID, "gemini")
    late = cleaner(pieces)
    assert other.piece(SAID, "gemini") is first
    assert late.piece(SAID, "gemini") is not first
    assert late.piece(SAID, "gemini") == first


def test_threads_that_clean_alike_get_one_memory():
    """Trials open their routes at once."""
    pieces = Pieces()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: cleaner(pieces), range(64)))
    assert len({id(one.piece(SAID, "gemini")) for one in made}) == 1


def test_a_setting_is_redacted_and_never_scrubbed():
    """It is no text: the id of a model, a word of the API."""
    one = cleaner()
    data = b'"hunter2hunter2 Process Group PGID: 12"'
    assert one.setting(data).data == b'"<secret:TOKEN> Process Group PGID: 12"'
    assert one.setting(data) is one.setting(data)
    assert one.hits == {"secrets": 1}


def test_a_secret_over_blocks_of_a_request_is_taken_out_and_counted():
    """Within one piece, and over the pieces of a list such as a prompt."""
    one = cleaner()
    halves = [{"text": "hunter2"}, {"text": "hunter2!"}]
    piece = one.piece(encode({"content": halves}), "anthropic")
    assert piece.data == b'{"content":[{"text":"<secret:TOKEN>"},{"text":"!"}]}'
    one.clean_blocks(halves)
    assert halves == [{"text": "<secret:TOKEN>"}, {"text": "!"}]
    assert one.hits == {"secrets": 2}

"""Text that a terminal only shows."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.plain import plain, readable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ünïcode ✔\tand\nlines", "ünïcode ✔\tand\nlines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\rb\x9b2Jc\x7f", "a\\rb\\x9b2Jc\\x7f"),
        ("\u202eback", "\\u202eback"),
        ("\x1b[\x1b[m2J", "\\x1b[2J"),
    ],
)
def test_it_can_only_be_read(text: str, shown: str) -> None:
    """Colours go, words stay, and what would steer a terminal is written out."""
    assert plain(text) == shown


@given(st.text())
def test_nothing_is_left_that_steers(text: str) -> None:
    """Whatever is put together, no control character but tab and line feed comes through."""
    shown = plain(text)
    assert all(sign in "\n\t" or sign >= " " for sign in shown)
    assert not set(map(chr, range(0x7F, 0xA0))).intersection(shown)
    assert plain(shown) == shown


@given(st.text(), st.integers(1, 20))
def test_what_was_cut_says_so(text: str, most: int) -> None:
    """No more than so many characters: a text is whole, or ends in a mark that it goes on."""
    cut = shortened(text, most)
    assert len(cut) <= most
    assert cut == text if len(text) <= most else cut == text[: most - 1] + "…"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  ünïcode ✔\tand\nlines \n", "ünïcode ✔\tand\nlines"),
        ("\x1b[1;31mred\x1b[0m \x1b[2J\x1b]0;title\x07on", "red on"),
        ("\x1b]8;;https://x.y\x1b\\link", "link"),
        ("a\u202eb\u2066c\u200bd\x00e\x9b2Jf\r\ng", "abcdef\ng"),
        ("f\ud800g", "f?g"),
        ("\U000e0041hidden words", "hidden words"),
    ],
)
def test_what_a_file_keeps(text: str, kept: str) -> None:
    """What is seen, and nothing that steers, turns or hides."""
    assert readable(text) == kept


@given(st.text(st.characters(exclude_categories=())))
def test_a_file_holds_nothing_unseen(text: str) -> None:
    """Whatever is put together; and what is kept is kept again as it is."""
    kept = readable(text)
    assert all(one in "\n\t" or unicodedata.category(one)[0] != "C" for one in kept)
    assert readable(kept) == kept

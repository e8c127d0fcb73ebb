"""Text that a terminal only shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.plain import plain


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

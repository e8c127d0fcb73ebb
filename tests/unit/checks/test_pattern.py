"""A search has an end, whatever the pattern and whatever the text."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.checks.apart import ApartError
from evalgate.checks.pattern import found_in


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("one\ntwo\n", "^two$", True),
        ("one\ntwo\n", "^wo", False),
        ("a\ufffdb é 北 \U0001f600", "\ufffdb é 北 \U0001f600", True),
        ("", "", True),
        ("a\0b", "a\0b", True),
        ("\r\n", "^$", True),
    ],
)
def test_a_search(text: str, pattern: str, found: bool) -> None:
    """Line by line, with characters of any kind."""
    assert found_in(text, pattern) is found
    assert bool(re.search(pattern, text, re.MULTILINE)) is found


@settings(max_examples=20)
@given(st.text(), st.text(max_size=2))
def test_it_finds_what_a_search_here_finds(text: str, word: str) -> None:
    """Text is handed over without a loss."""
    assert found_in(text, re.escape(word)) is (word in text)


def test_a_search_without_an_end_is_broken_off() -> None:
    """A line of thirty letters is enough for some patterns."""
    began = time.monotonic()
    with pytest.raises(ApartError, match=r"did not end within 0\.5 s"):
        found_in("a" * 40 + "!", "^(a+)+$", seconds=0.5)
    assert time.monotonic() - began < 15


def test_a_search_that_needs_all_memory_is_broken_off() -> None:
    """The machine has other things to do."""
    with pytest.raises(ApartError, match=r"broke off: MemoryError$"):
        found_in("ab" * 15_000_000, "^(?:(a)|(b))*c", seconds=60)


def test_what_broke_a_search_off_is_named_without_its_words() -> None:
    """They may hold a piece of the text, or of the pattern: here a secret that is cut."""
    with pytest.raises(ApartError, match=r"broke off: re\.(?:Pattern|)[Ee]rror$"):
        found_in("text", "(?P<hunter2hunter2" + "x" * 150 + "-9>a)")


def test_a_large_file_is_searched() -> None:
    """As large as a claim can be."""
    text = json.dumps(list(range(3_000_000)))
    assert found_in(text, "2999999]$")

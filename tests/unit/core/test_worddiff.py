"""Two texts are told apart by a few words, whatever their length."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.worddiff import LONGEST, common_prefix, word_diff

LONG = " ".join(f"word{number}" for number in range(20000))
texts = st.text(st.sampled_from("ab .\n日本"), max_size=60)


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        ("same", "same", ""),
        ("You are careful.", "You are quick.", "You are [-careful-]{+quick+}."),
        ("You are careful.", "You are very careful.", "You are {+very +}careful."),
        ("You are very careful.", "You are careful.", "You are [-very -]careful."),
        ("careful", "carefully", "[-careful-]{+carefully+}"),
        ("", "all of it", "{+all of it+}"),
        ("all of it", "", "[-all of it-]"),
        ("a b c d", "a B c D", "a [-b-]{+B+} c [-d-]{+D+}"),
        # Words with nothing but white space between them are one change.
        ("one two three", "ONE TWO three", "[-one two-]{+ONE TWO+} three"),
        ("line\nend", "line\n\nend", r"line[-\n-]{+\n\n+}end"),
        ("a\x1b[0mb", "a\x1b[1mb", r"a\x1b[[-0mb-]{+1mb+}"),
        ("日本語のテキスト", "日本誤のテキスト", "日本[-語-]{+誤+}のテキスト"),
    ],
)
def test_what_differs_is_marked(old, new, diff):
    """Removed and added words, the equal ones around them, in one line."""
    assert word_diff(old, new) == diff


def test_equal_words_far_from_a_change_are_left_out():
    """A word or a sentence in a prompt of a hundred pages."""
    diff = word_diff(LONG, LONG.replace("word9999 ", "WORD "))
    assert diff == (
        "…word9995 word9996 word9997 word9998 [-word9999-]{+WORD+} word10000 word10001 word10002…"
    )


def test_two_changes_far_apart_show_the_first():
    """What is behind it is cut."""
    new = LONG.replace("word5 ", "FIVE ").replace("word19990 ", "LATE ")
    assert word_diff(LONG, new) == (
        "word0 word1 word2 word3 word4 [-word5-]{+FIVE+} word6 word7 word8 word9 word10 word11…"
    )


def test_a_word_without_end_is_cut_around_its_difference():
    """Base64 and minified code have no white space."""
    diff = word_diff("A" * 90_000 + "x" + "B" * 90_000, "A" * 90_000 + "y" + "B" * 90_000)
    assert "Ax" in diff
    assert "Ay" in diff
    assert len(diff) < 300


@pytest.mark.parametrize(
    "new", [LONG[::-1], f"X {LONG} Y", LONG.replace("word", "w0rd"), LONG[:70_000], "x" * 150_000]
)
def test_it_is_short_and_fast_on_long_texts(new):
    """Whatever the two have in common."""
    assert len(LONG) > 150_000
    times = []
    for _ in range(3):
        begun = time.process_time()
        diff = word_diff(LONG, new)
        times.append(time.process_time() - begun)
    assert 0 < len(diff) <= LONGEST
    assert "-]" in diff or "+}" in diff
    assert min(times) < 0.1


@given(texts, texts)
def test_short_texts_can_be_read_back(old, new):
    """Nothing is lost: without the marks of one side the diff is the other text."""
    diff = word_diff(old, new)
    assert bool(diff) == (old != new)
    if diff and "…" not in diff:
        before = re.sub(r"\{\+(.*?)\+\}", "", diff)
        after = re.sub(r"\[-(.*?)-\]", "", diff)
        assert re.sub(r"\[-(.*?)-\]", r"\1", before) == old.replace("\n", "\\n")
        assert re.sub(r"\{\+(.*?)\+\}", r"\1", after) == new.replace("\n", "\\n")


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_any_two_texts_have_a_diff(old, new):
    """No input breaks it, and it fits a line."""
    diff = word_diff(old, new)
    assert bool(diff) == (old != new)
    assert len(diff) <= LONGEST
    assert diff.isprintable()


@given(st.text(max_size=50), st.text(max_size=50))
def test_the_common_prefix_is_the_longest(old, new):
    """Found by halves, as if it were found letter by letter."""
    length = common_prefix(old, new)
    assert old[:length] == new[:length]
    assert old[length : length + 1] != new[length : length + 1] or old == new

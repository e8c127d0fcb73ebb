"""Text of strangers is shown and never understood."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.report.markdown import code, escape, escape_html, fence

HOSTILE = [
    *("a|b", "`code`", "<script>alert(1)</script>", "<!-- -->", "&lt;", "&#64;x", "*b*", "_i_"),
    *("[x](http://e.invalid)", "![x](y)", "~~s~~", "# head", "\\|", "\\", "a\\`b`"),
]
INVISIBLE = ["\0", "\x1b[2J", "\x9b31m", "\u202e", "\u2066", "\u200f", "\u061c", "\r", "\u2028"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_markup_survives(text: str) -> None:
    """Every character with a meaning stands behind a backslash."""
    plain = re.sub(r"\\[\\`*_\[\]<>|#~&]", "", escape(text))
    assert not re.search(r"[\\`*_\[\]<>|#~&]", plain)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@name", "@\u200bname"),
        ("fixes #12", "fixes \\#\u200b12"),
        ("GH-12", "GH\u200b-12"),
        ("a@b.invalid", "a@\u200bb.invalid"),
        ("https://e.invalid", "https\u200b://e.invalid"),
        ("www.e.invalid", "www\u200b.e.invalid"),
    ],
)
def test_nothing_is_linked_and_nobody_is_called(text: str, shown: str) -> None:
    """GitHub looks for people, issues and addresses after the Markdown is read."""
    assert escape(text) == shown


@pytest.mark.parametrize("text", [*INVISIBLE, "\udcff"])
def test_what_steers_a_terminal_or_an_eye_is_shown(text: str) -> None:
    """Escapes, NUL, bidirectional marks and bytes that are no text have a visible stand-in."""
    for shown in (escape(text), escape_html(text), fence(text)):
        assert "\ufffd" in shown
        assert text[0] not in shown
        assert shown.encode()


def test_colours_are_left_out() -> None:
    """Test programs paint their words; nobody reads that."""
    text = "\x1b[31;1mFAILED\x1b[0m test_a"
    assert escape(text) == "FAILED test\\_a"
    assert code(text) == "`FAILED test_a`"
    assert fence(text) == "```\nFAILED test_a\n```"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b", "`a_b`"),
        ("@x #1", "`@x #1`"),
        ("a`b``c", "```a`b``c```"),
        ("`a`", "`` `a` ``"),
        ("a|b", "a\\|b"),
        ("", "–"),
    ],
)
def test_a_name_is_shown_as_code(text: str, shown: str) -> None:
    """To be copied as it is; a bar would end a cell even there."""
    assert code(text) == shown


def test_a_long_line_is_cut() -> None:
    """In characters, before it is escaped."""
    assert escape("#" * 10, 3) == "\\#\u200b\\#\u200b…"
    assert escape_html("<" * 10, 2) == "&lt;…"
    assert code("abcdef", 4) == "`abc…`"
    assert len(fence("x" * 1000).split("\n")[1]) == 240


@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "12) a", "-", "---", "==="])
def test_no_text_begins_a_list_or_a_heading(text: str) -> None:
    """What would begin one stands behind a backslash; a number alone does not."""
    assert "\\" in escape(text)
    assert escape(f"x{text}") == f"x{text}"
    assert escape("-20.5 %") == "-20.5 %"


def test_one_line_stays_one_line() -> None:
    """A table cell can not be left."""
    assert escape("a\nb\tc") == "a ⏎ b c"


def test_inside_html_the_entities_are_html() -> None:
    """A summary's text is no Markdown: a backslash would keep nothing out of it."""
    assert escape_html("a_b</summary><img src=x>") == "a_b&lt;/summary&gt;&lt;img src=x&gt;"


@given(st.text())
def test_escaping_is_total(text: str) -> None:
    """Any text becomes one line that can be written as UTF-8, with nothing lost but marks."""
    assert len(escape(text).splitlines()) <= 1
    assert f"{escape(text)}.".encode()
    assert "<" not in escape_html(text)
    assert f"{html.unescape(escape_html(text))}.".encode()


@pytest.mark.parametrize("ticks", [0, 2, 3, 5])
def test_no_content_closes_a_fence(ticks: int) -> None:
    """The fence is longer than any run of ticks inside."""
    inside = "`" * ticks
    first, *body, last = fence(f"a\n{inside}\n<b>", "diff").split("\n")
    assert first == f"{last}diff"
    assert set(last) == {"`"}
    assert len(last) == max(3, ticks + 1)
    assert body == ["a", inside, "<b>"]


def test_a_long_text_is_cut_and_says_so() -> None:
    """A diff of a megabyte does not fill the page."""
    block = fence("\n".join(map(str, range(100))), lines=3)
    assert block == "```\n0\n1\n2\n… 97 more lines\n```"

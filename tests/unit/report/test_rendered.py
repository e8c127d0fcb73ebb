"""Whatever a stranger writes, GitHub's Markdown shows it as text and the page keeps its form."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalgate.core.decision import Decision
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.report.last_words import LastWords
from evalgate.report.markdown import code, escape, escape_html, fence
from evalgate.report.tool_calls import CallsChange
from evalgate.report.verdict import PartChange, Story, render_verdict
from tests.unit.report.dealt import dealt, sample
from tests.unit.report.rendering import rendered

HOSTILE = [
    *("a|b", "a\\|b", "a\\\\|b", "|", "`x`", "``", "`", "a`b``c", " ` ", "\\", "\\`x\\`"),
    *("<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- evalgate:v1 -->", "<!--", "-->"),
    *("</summary></details>", "</details>", "<details>", "&lt;b&gt;", "&#64;x", "&"),
    *("@name", "@org/team", "a@b.invalid", "#12", "o/r#12", "GH-12", "fixes #1", "Closes: #1"),
    *("https://e.invalid/x", "www.e.invalid", "ftp://e.invalid", "mailto:a@b.invalid"),
    *("[x](http://e.invalid)", "![x](//e.invalid/y.png)", "[x][y]", "[x]: //e.invalid", "[^1]"),
    *("*b*", "_i_", "__b__", "~~s~~", "**", "$x$", "$$x$$", ":tada:"),
    *("# h", "## h", "- x", "+ x", "* x", "1. x", "1) x", "---", "===", "***", "> x", "    x"),
    *("- [ ] x", "```", "`````", "~~~", "a\n\n# b", "a\n---\nb", "\n", "", " ", "| a |\n|---|"),
    *("\x1b[31mred\x1b[0m", "\x9b31m", "\0", "\u202eevil", "\u2066x", "\u200bx", "\ufeff"),
    "\udcff",
    *("\r", "a\r\nb", "\u2028", "\x85", "\U000e0041", "x\ty", "> [!CAUTION]", "{{ 7 * 7 }}"),
]
PIECES = st.sampled_from(
    [*HOSTILE, *"|\\`<>@#[]()!*_~&$-+=.:/ \n\t", "http", "www.", "a", "1", "``", "</", "é", "😀"]
)
TEXTS = st.lists(PIECES | st.characters(), max_size=12).map("".join)


def talks_to_nobody(talking: str) -> bool:
    """Tell that nobody is called, no issue named, nothing linked in the text outside code."""
    return not re.search(r"(?i)@\w|#\d|\bgh-\d|\w://|www\.\w", talking)


def page_of(text: str) -> str:
    """Return a page on which everything that somebody can choose is this text."""
    name = text = text or " "  # nothing at all is not on the page
    base, head = sample({name: "p" * 10, "x": "pp"}), sample({name: "f" * 10, "x": "pp"})
    rows = tuple(replace(row, reason=text) for row in head.tasks[name].rows)
    head = replace(head, tasks={**head.tasks, name: replace(head.tasks[name], rows=rows)})
    story = Story(
        head=text,
        base=text,
        how=text,
        parts=(PartChange(name=text, files=(text, text), diff="x", size=text),) * 2,
        differences={name: "x"},
        calls={name: CallsChange(before=("x",), after=("y",))},
        words={name: LastWords(before=f".{text}", after=f"{text}x")},
        notes=(text,),
        anchor=f"Since {text}",
        next_steps=("x",),
        decided=(text,),
        hypothesis=text,
        touched={text: 2},
        run=name,
    )
    verdict = replace(judge(base, head, Policy()), sentence=text, reasons=(f"x{text}x",))
    return render_verdict(verdict, story)


PLAIN = rendered(page_of("plain")).structure()


def is_inert(text: str) -> None:
    """Assert that a page made of this text has the form of one made of a plain word."""
    page = page_of(text)
    assert not re.search(r"[\0\x1b\x9b\u202e\u2066\ufeff\U000e0041\udcff]", page)
    found = rendered(page)
    assert found.structure() == PLAIN
    assert talks_to_nobody(found.talking), found.talking
    assert found.comments == [" evalgate:v1 "]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_changes_nothing_about_the_page(text: str) -> None:
    """As task, reason, check, part, file, note, label, hypothesis and tripwire."""
    is_inert(text)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_no_text_changes_anything_about_the_page(text: str) -> None:
    """Tags, tables, cells and folds are those of a page of plain words."""
    is_inert(text)


def words(text: str) -> list[str]:
    """Return what is read of a text: its words, without the marks that keep links away."""
    return text.replace("\u200b", "").split()


@settings(max_examples=300)
@given(TEXTS)
def test_what_is_shown_is_what_was_written(text: str) -> None:
    """In a cell, in a sentence, in code and in a summary; controls have a stand-in."""
    shown = {
        "cell": rendered(f"| | |\n|---|---|\n| {escape(text)} | x |\n"),
        "item": rendered(f"- {escape(text)}\n\nx"),
        "quoted": rendered(f"> {escape(text)}\n\nx"),
        "code": rendered(f"| | |\n|---|---|\n| {code(text)} | x |\n"),
        "summary": rendered(f"<details><summary>{escape_html(text)}</summary>\n\nx\n\n</details>"),
    }
    (plain,) = {tuple(words(one.text)) for one in shown.values()}
    for where, one in shown.items():
        assert talks_to_nobody(one.talking), where
        assert not {"a", "img", "em", "strong", "del", "h1", "hr", "ol", "pre"} & {*one.tags}, where
    if text.isascii() and text.isprintable():
        assert [*plain] == [*(words(text) or ["–"]), "x"]


@settings(max_examples=200)
@given(TEXTS)
def test_a_block_of_code_holds_all_and_nothing_leaves_it(text: str) -> None:
    """A diff with fences, HTML and names in it is one block."""
    found = rendered(f"x\n\n{fence(text, 'diff')}\n\ny")
    assert found.tags == ["p", "/p", "pre", "code", "/code", "/pre", "p", "/p"]
    assert words(found.talking) == ["x", "y"]


def test_a_diff_of_a_whole_page_is_one_block() -> None:
    """What an agent wrote may be a verdict of its own."""
    verdict, story = dealt(Decision.REGRESSION)
    own = render_verdict(verdict, story)
    other = replace(story, differences={"parse-dates": own}, next_steps=(own,))
    plain = replace(story, differences={"parse-dates": "x"}, next_steps=("x",))
    pages = [rendered(render_verdict(verdict, one)).tags for one in (other, plain)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("decision", Decision)
def test_every_page_is_well_formed(decision: Decision) -> None:
    """Its marker first, one quote on top, tables whole and folds closed."""
    found = rendered(render_verdict(*dealt(decision)))
    assert found.comments == [" evalgate:v1 "]
    assert found.tags[:3] == ["blockquote", "p", "strong"]
    assert found.tags.count("blockquote") == 1
    assert found.tags.count("details") == found.tags.count("summary")
    assert not {"a", "img", "em", "del", "h1", "h2", "hr", "ol"} & {*found.tags}
    assert "|" not in found.talking
    assert talks_to_nobody(found.talking)

"""A page that is too long loses the same things first, says so, and is never broken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.core.decision import Decision
from evalgate.core.policy import Policy
from evalgate.core.verdict import Verdict, prepare
from evalgate.report.last_words import LastWords
from evalgate.report.shedding import LIMIT_BYTES, MOST_FOLDS, cut
from evalgate.report.tool_calls import CallsChange
from evalgate.report.verdict import Story, render_verdict
from tests.unit.report.dealt import PARTS, STORY, dealt, sample
from tests.unit.report.rendering import rendered

#: So many lines, each so long, are a diff nobody reads.
_LINES = "\n".join(f"+{'é' * 300} {n}" for n in range(500))


@cache
def large(tasks: int) -> tuple[Verdict, Story]:
    """Return a regression of many tasks, all of which fell, with long diffs."""
    names = [f"task-{n:04}" for n in range(tasks)]
    sides = sample(dict.fromkeys(names, "ppp")), sample(dict.fromkeys(names, "fff"))
    verdict = replace(prepare(*sides, Policy()), decision=Decision.REGRESSION, sentence="Worse.")
    calls = CallsChange(before=("read(path=a)",) * 30, after=("bash(command=ls)",) * 30)
    return verdict, replace(
        STORY,
        differences=dict.fromkeys(names, _LINES),
        calls=dict.fromkeys(names, calls),
        words=dict.fromkeys(names, LastWords(before=_LINES, after=f"{_LINES}\n.")),
        parts=(replace(PARTS[0], diff=_LINES),),
    )


def shown(page: str) -> list[str]:
    """Return the titles of the folds."""
    return [
        line.partition("<summary>")[2].removesuffix("</summary>")
        for line in page.splitlines()
        if "<summary>" in line
    ]


def test_what_goes_first_never_changes() -> None:
    """All tasks, then soft signals, then differences from the last one, then the rest."""
    verdict, story = dealt(Decision.REGRESSION)
    whole = render_verdict(verdict, story, limit_bytes=1_000_000)
    assert "Left out" not in whole
    seen = []
    for limit in range(len(whole.encode()), 2_000, -150):
        page = render_verdict(verdict, story, limit_bytes=limit)
        assert len(page.encode()) <= limit
        titles = shown(page)
        if not seen or seen[-1] != titles:
            seen.append(titles)
    names = [[title.partition(":")[0] for title in titles] for titles in seen]
    assert names == [
        ["parse-dates", "retry-upload", "Soft signals", "All tasks", "How this was decided"],
        ["parse-dates", "retry-upload", "Soft signals", "How this was decided"],
        ["parse-dates", "retry-upload", "How this was decided"],
        ["parse-dates", "How this was decided"],
        ["How this was decided"],
        [],
    ]


def test_what_is_left_out_is_said_with_where_it_is() -> None:
    """Each thing by its name, and the command that shows it."""
    verdict, story = dealt(Decision.REGRESSION)
    page = render_verdict(verdict, story, limit_bytes=4_000)
    (said,) = (line for line in page.splitlines() if line.startswith("Left out"))
    assert said.startswith("Left out, to stay below 4,000 bytes: the table of all 7 tasks; the")
    assert "the differences of 2 of 2 tasks" in said
    assert f"`evalgate show {story.run}`" in said
    assert "`verdict.json`" in said


@pytest.mark.parametrize("tasks", [30, 3_000])
def test_a_page_of_thousands_of_tasks_fits(tasks: int) -> None:
    """What stands on top is all there; as many differences as there is room for."""
    page = render_verdict(*large(tasks))
    assert len(page.encode()) <= LIMIT_BYTES
    rendered(page)
    assert "### Numbers" in page
    assert "### Tasks that moved" in page
    assert f"… and {tasks - 8} more" in page
    assert 0 < len([title for title in shown(page) if title.startswith("task-")]) < MOST_FOLDS
    assert "How this was decided" in page
    assert f"the table of all {tasks:} tasks" in page


def test_a_page_with_room_has_all_but_what_is_beyond_counting() -> None:
    """A job's summary takes a megabyte; twenty tasks have a fold of their own."""
    page = render_verdict(*large(300), limit_bytes=1_000_000)
    assert "All tasks: 300" in page
    assert f"the differences of {300 - MOST_FOLDS} of 300 tasks" in page
    assert "… 460 more lines" in page


@pytest.mark.parametrize("limit", [40, 200, 700, 1_500, 3_000, 20_000])
def test_no_limit_breaks_a_page(limit: int) -> None:
    """Cut as short as it may be, it begins with its marker and is well-formed."""
    for verdict, story in (large(300), dealt(Decision.REGRESSION)):
        page = render_verdict(verdict, story, limit_bytes=limit)
        assert len(page.encode()) <= limit
        assert page.startswith("<!-- evalgate:v1 -->")
        rendered(page)


def test_texts_without_end_are_cut_and_the_page_keeps_its_parts() -> None:
    """A sentence, reasons and notes of a megabyte each."""
    verdict, story = dealt(Decision.REGRESSION)
    endless = "# @x | `y` " * 100_000
    verdict = replace(verdict, sentence=endless, reasons=(endless,) * 50)
    story = replace(
        story,
        notes=(endless,) * 50,
        anchor=endless,
        how=endless,
        decided=(endless,) * 100,
        hypothesis=endless,
        parts=tuple(replace(PARTS[0], name=endless, files=(endless,) * 9) for _ in range(30)),
    )
    page = render_verdict(verdict, story)
    assert len(page.encode()) <= LIMIT_BYTES
    rendered(page)
    for part in (
        "### What changed",
        "### Numbers",
        "### Tasks that moved",
        "Evidence:",
        "### Next",
    ):
        assert part in page


def test_a_template_of_a_project_is_cut_as_well() -> None:
    """It may leave out nothing by itself."""
    verdict, story = dealt(Decision.PASS)
    own = "mine\n{% for n in range(9000) %}\n{{ n }} line\n{% endfor %}"
    page = render_verdict(verdict, story, template=own, limit_bytes=500)
    assert len(page.encode()) <= 500
    assert page.startswith("mine\n0 line\n1 line\n")
    assert page.endswith("… cut here: the page is too long.\n")


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(["a", "é" * 30, "", "```", "````diff", "<details><summary>x</summary>"])
        | st.sampled_from(["</details>", "| a | b |", "x" * 100])
    ),
    st.integers(min_value=0, max_value=600),
)
def test_a_cut_keeps_its_limit_and_what_fits(lines: list[str], limit: int) -> None:
    """Whatever stands there; a page that fits is not touched."""
    page = "\n".join(["m", *lines])
    short = cut(page, limit)
    assert len(short.encode()) <= max(limit, 1)
    assert short == page or len(page.encode()) > limit
    assert short.startswith("m")

"""The HTML report in a real browser: quiet, reachable by everybody, and deaf to what it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from benchmarks.made_runs import made_report
from evalgate.core.trial import Outcome, Signals
from evalgate.report.html import render_html
from evalgate.report.run_report import Reference, RunReport
from tests.hostile import HOSTILE

VIEWS = ("steps", "compare", "diff", "checks", "log", "wire")


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[RunReport], Path]:
    """Write a report where a browser can open it."""
    folder = tmp_path_factory.mktemp("pages of é")

    def write(report: RunReport) -> Path:
        file = folder / f"{len(list(folder.iterdir()))}.html"
        file.write_text(render_html(report))
        return file

    return write


@pytest.fixture(scope="session")
def usual(page):
    """A run of twelve tasks with ten trials each."""
    return page(made_report(12, 10))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1240), ("dark", 390)])
def test_every_view_is_quiet_and_open_to_everybody(opened, usual, scheme, width):
    """No word on the console, no request, nothing that axe minds, nothing wider than the screen."""
    opened.open(usual, scheme=scheme, width=width)
    assert opened.barriers == []
    for view in VIEWS:
        opened.go(f"#window-1:1/{view}")
        assert opened.text("h1") == "window-1 #1"
        opened.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert opened.barriers == [], view
    assert opened.complaints == []


def test_colours_follow_what_the_reader_has_chosen(opened, usual):
    """Dark paper in the dark."""
    shades = []
    for scheme in ("light", "dark"):
        opened.open(usual, scheme=scheme)
        shades.append(
            opened.run("return getComputedStyle(document.documentElement).backgroundColor")
        )
    assert shades == ["rgb(252, 252, 251)", "rgb(20, 23, 26)"]


def test_what_strangers_say_does_nothing(opened, page):
    """In no view, whatever they say; and what steers an eye or a terminal is written out."""
    report = made_report(3, 6, texts=HOSTILE)
    opened.open(page(report))
    before = opened.run("return document.querySelectorAll('script').length")
    places = opened.run("return [...document.querySelectorAll('.cell')].map((one) => one.hash)")
    assert len(places) == len(report.trials)
    for place in places[:8]:
        for view in VIEWS:
            opened.go(f"{place}/{view}")
            shown = opened.run("return document.body.innerText + document.title")
            assert not set("\x1b\0\x07\x9b\u202e\u2066\u2028") & set(shown)
            assert "\\u202e" in shown or "<script>" in shown or view not in {"steps", "log", "diff"}
    assert opened.run("return window.hit") is None
    assert opened.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert opened.run("return document.querySelectorAll('script').length") == before
    assert opened.complaints == []


def test_a_task_may_have_any_name(opened, page):
    """On a phone's screen too: markup, colours, marks of direction, one word of 3,000 letters."""
    for n in range(len(HOSTILE)):
        opened.open(page(made_report(1, 1, texts=HOSTILE[n:] + HOSTILE[:n])), width=390)
        assert opened.beyond == [], n
        place = opened.run("return document.querySelector('.cell').hash")
        for view in VIEWS:
            opened.go(f"{place}/{view}")
            assert opened.beyond == [], (n, view)
        assert opened.text("h1").endswith(" #1")
        assert opened.run("return window.hit") is None
        assert opened.complaints == []


@pytest.mark.parametrize("outcome", Outcome)
def test_a_run_of_one_trial_of_which_little_is_known(opened, page, outcome):
    """Unknown is unknown, and never 0 or NaN."""
    report = made_report(1, 1, turns=0)
    (trial,) = report.trials
    bare = replace(trial, outcome=outcome, signals=Signals(), checks=(), patch="", agent_exit=None)
    report = replace(report, trials=(bare,), verdict=None, timeline=(), pages={}, references={})
    opened.open(page(report))
    assert "unknown" in opened.text(".tiles")
    for view in ("", *(f"#window-1:1/{name}" for name in VIEWS)):
        opened.go(view)
        shown = opened.text("body main")
        assert not any(word in shown for word in ("NaN", "undefined", "null", "Infinity"))
    assert opened.barriers == []
    assert opened.complaints == []


def found(opened) -> str:
    return opened.text("output.found")


def test_trials_are_searched_and_filtered(opened, usual):
    """By what is said of them, by outcome and tag, and by what they did where it is asked for."""
    report = made_report(12, 10)
    opened.open(usual)
    assert found(opened) == "120 trials of 12 tasks"
    opened.keys("/")
    opened.keys("merge-1")
    assert found(opened) == "10 trials of 1 task"
    opened.run("document.querySelector('.toggle.passed input').click()")
    wrong = [t for t in report.trials if t.task == "merge-1" and t.outcome is not Outcome.PASSED]
    assert found(opened) == f"{len(wrong)} trials of 1 task"
    assert len([t for t in opened.texts("a.cell") if t]) == len(wrong)
    opened.open(usual)
    opened.keys("/")
    opened.keys("grep -n clamp")
    assert found(opened) == "0 trials of 0 tasks"
    opened.run("document.querySelector('.filters .search + .toggle input').click()")
    assert found(opened) == "120 trials of 12 tasks"
    opened.open(usual)
    opened.run("document.querySelector('select').value = 'slow'")
    opened.run("document.querySelector('select').dispatchEvent(new Event('change'))")
    assert found(opened) == "20 trials of 2 tasks"


def test_a_keyboard_is_enough(opened, usual):
    """From the overview into a trial, along trials and views, and back."""
    opened.open(usual)
    for _ in range(40):
        opened.keys(Keys.TAB)
        if opened.run("return document.activeElement.classList.contains('cell')"):
            break
    first = opened.run("return document.activeElement.hash")
    opened.keys(Keys.ARROW_RIGHT)
    assert opened.run("return document.activeElement.hash") != first
    opened.keys(Keys.ENTER)
    task = opened.hash.partition(":")[0]
    assert opened.hash == f"{task}:2"
    opened.keys("j")
    assert opened.hash == f"{task}:3"
    opened.keys("k", "k")
    assert opened.hash == f"{task}:1"
    opened.keys("3")
    assert opened.hash == f"{task}:1/diff"
    assert opened.text("[aria-selected=true]") == "Diff"
    opened.run("document.getElementById('tab-diff').focus()")
    opened.keys(Keys.ARROW_RIGHT)
    assert opened.hash == f"{task}:1/checks"
    assert opened.run("return document.activeElement.id") == "tab-checks"
    opened.keys(Keys.ESCAPE)
    assert opened.hash == ""
    assert opened.texts("h2")[-1] == "By tag"
    opened.keys("n")
    assert opened.text(".outcome .chip") != "passed"
    assert opened.complaints == []


def test_a_failing_trial_stands_beside_the_last_passing_one(opened, usual):
    """Their calls in rows, their outputs beneath; and the passing one is a link away."""
    opened.open(usual, "#window-1:1/compare")
    assert opened.texts(".sides thead th") == ["passed then", "this trial"]
    assert len(opened.texts(".sides tbody tr")) >= 8
    assert opened.texts(".two h2") == [
        *("Said last, passed then", "Said last, this trial"),
        *("passed then", "this trial"),
    ]
    steps = made_report(12, 10).pages["window-1", 1].trajectory.steps
    assert opened.texts(".words pre")[1] == steps[-1].text
    opened.run("document.querySelector('[role=tabpanel] a').click()")
    opened.go(opened.hash)
    assert opened.text(".outcome .chip").endswith("passed")


def test_what_changed_within_a_line_is_marked(opened, usual):
    """And lines have their numbers on either side."""
    opened.open(usual, "#window-1:1/diff")
    assert opened.texts(".row.del mark") == ["min(value, 0)"]
    assert opened.texts(".row.add mark") == ["value"]
    assert opened.texts(".row.add .at") == ["", "2"]


@pytest.mark.parametrize(("where", "n"), [("20261129-120000.000-run-1", 3), ("b1.toml", 0)])
def test_the_last_passing_trial_may_be_elsewhere(opened, page, where, n):
    """Of an earlier run, with its calls; or of a baseline, of which only the output is known."""
    report = made_report(2, 6)
    first = report.trials[0].task
    one = Reference(
        where=where, n=n, patch="--- a/x\n+++ b/x\n", page=report.pages[first, 1] if n else None
    )
    report = replace(report, references={first: one})
    opened.open(page(report), f"#{first}:2/compare")
    assert where in opened.text("[role=tabpanel] strong")
    assert bool([row for row in opened.texts(".sides tbody td:first-child") if row != "–"]) == bool(
        n
    )
    assert ("Not known here." in opened.text(".words")) == (not n)
    assert opened.barriers == []
    assert opened.complaints == []
    opened.open(page(replace(report, references={})), f"#{first}:2/compare")
    assert "No trial of this task has passed yet" in opened.text("[role=tabpanel]")

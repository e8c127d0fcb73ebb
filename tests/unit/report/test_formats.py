"""A run in the formats that programs read, and as one Markdown page."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.made_runs import made_report
from evalgate.core.trial import Outcome
from evalgate.report.html import render_html
from evalgate.report.junit import render_junit
from evalgate.report.run_markdown import render_run
from evalgate.report.share import PAGE, Share
from evalgate.report.trial_page import TrialPage
from tests.hostile import HOSTILE
from tests.schemas import hold

# From pytest's source distribution on PyPI: the schema of Jenkins' xUnit plugin, MIT licence.
JUNIT = xmlschema.XMLSchema(Path(__file__).parent / "junit-10.xsd")

REPORTS = {
    "plain": made_report(6, 5),
    "hostile": made_report(4, 5, texts=HOSTILE),
}


@pytest.fixture(params=REPORTS)
def report(request):
    """A run, once of usual words and once of hostile ones."""
    return REPORTS[request.param]


def test_the_document_is_that_of_its_schema(report):
    """Nothing in it is unknown to the schema, and numbers are numbers."""
    value = json.loads(json.dumps(report.to_json(), allow_nan=False))
    hold(value, "report")
    assert len(value["trials"]) == len(report.trials)
    assert sum(one["trials"] for one in value["tasks"]) == value["totals"]["trials"]


def test_junit_is_that_of_jenkins(report):
    """A suite a task, a case a trial; failed and errored are told apart and counted."""
    text = render_junit(report)
    assert text.encode("utf-8")
    JUNIT.validate(text)
    root = ET.fromstring(text)
    outcomes = Counter(trial.outcome for trial in report.trials)
    assert len(root.findall("./testsuite/testcase")) == outcomes.total()
    assert len(root.findall("./testsuite/testcase/failure")) == outcomes[Outcome.FAILED]
    assert len(root.findall("./testsuite/testcase/error")) == outcomes[Outcome.ERRORED]
    assert root.get("failures") == str(outcomes[Outcome.FAILED])
    assert root.get("errors") == str(outcomes[Outcome.ERRORED])


def test_what_was_not_made_is_skipped_in_junit(report):
    """It is there under the name that it will have, and no server takes it for a pass."""
    task, last = report.trials[-1].task, report.trials[-1].key.n
    missing = ((task, last + 1), ("never begun <&>", 1))
    text = render_junit(replace(report, missing=missing))
    JUNIT.validate(text)
    root = ET.fromstring(text)
    assert len(root.findall("./testsuite/testcase/skipped")) == 2
    assert root.get("tests") == str(len(report.trials) + 2)
    assert [one.get("skipped") for one in root.iter("testsuite")].count("1") == 2


def test_names_of_cases_hold_nothing_of_a_run():
    """So a server follows them from run to run, whatever came out."""

    def names(seed):
        root = ET.fromstring(render_junit(made_report(3, 4, seed=seed)))
        return [(one.get("classname"), one.get("name")) for one in root.iter("testcase")]

    assert names(1) == names(2)
    assert len(set(names(1))) == len(names(1))


@given(st.text())
def test_any_text_is_junit(text):
    """Also control characters, halves of characters and what ends a CDATA section."""
    report = made_report(1, 1, turns=0, texts=(text,))
    JUNIT.validate(render_junit(report))


def test_the_page_says_how_each_task_stands():
    """With a mark a trial, and who did not pass."""
    page = render_run(REPORTS["plain"])
    assert "\n✔ passed, ✘ failed, ! errored\n" in page
    for name, task in REPORTS["plain"].sample.tasks.items():
        assert f"| {task.passed}/{len(task.measured)} |" in page.split(f"| {name} |")[1]
    assert page.startswith("## a project: made\n")
    assert "**Regression.** The pass rate fell" in page


def test_no_text_is_markup_on_the_page():
    """Of a run's own words none is understood."""
    page = render_run(REPORTS["hostile"])
    assert not re.search(r"[\x00-\x08\x1b\u202e]", page)
    rest = (
        page.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", "")
    )
    assert not re.search(r"(?<!\\)<", rest)
    assert page.encode()


def test_nothing_in_the_html_ends_its_block(report):
    """The page is ASCII, has the scripts that we wrote, and asks for nothing."""
    page = render_html(report)
    assert page.isascii()
    scripts = re.findall(r"<script\b([^>]*)>", page)
    assert [one for one in scripts if "application/json" not in one] == [""]
    assert len(scripts) == page.count("</script>")
    assert "<!--" not in page.partition("<script")[2]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "unsafe" not in policy[1]


def test_a_page_within_its_share_says_what_is_cut():
    """And holds little more than it was given."""
    page = made_report(1, 1).pages["window-1", 1]
    cut = page.cut(Share(left=6000))
    assert len(json.dumps(cut.to_json())) < 20_000
    assert "more characters]" in json.dumps(cut.to_json())
    assert cut.lacking == ("8 exchanges are left out here",)
    assert page.cut(Share()) == page
    assert TrialPage().cut(Share(left=0)) == TrialPage()


@pytest.mark.parametrize("sign", ["a", "é", "漢", "\0", "\\"])
def test_a_share_is_of_what_is_written(sign):
    """Whatever a text is written in, it takes no more of the page than it was given."""
    share = Share(left=1000)
    assert len(json.dumps(share.take(sign * 900))) < 1050
    share.take(sign * 900)
    assert share.take("more") == "\n[4 more characters]"


def test_many_trials_of_long_texts_make_no_endless_page():
    """Each brings its share, and says what is left out."""
    page = render_html(made_report(20, 10, turns=1, texts=("x", "long " * 60_000)))
    assert len(page) < 1.2 * PAGE
    assert "more characters]" in page

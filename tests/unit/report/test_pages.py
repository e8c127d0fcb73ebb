"""The page of each decision, whole: read the files in ``__snapshots__`` as a reader would.

They are made by ``pytest --snapshot-update`` and are Markdown, so that any viewer shows them.
"""

from __future__ import annotations

import json

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from evalgate.core.decision import Decision
from evalgate.core.outline import Outline
from evalgate.report.brief import render_brief
from evalgate.report.verdict import render_verdict
from tests.unit.report.dealt import dealt, from_fork


class Pages(SingleFileSnapshotExtension):
    """One Markdown file a page."""

    file_extension = "md"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def pages(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compare with the files."""
    return snapshot.use_extension(Pages)


@pytest.mark.parametrize("decision", Decision)
def test_the_page_of_every_decision(decision: Decision, pages: SnapshotAssertion) -> None:
    """What a person reads, in full."""
    page = render_verdict(*dealt(decision))
    assert page == pages


def test_the_pages_of_a_fork_s_unmeasured_edit(pages: SnapshotAssertion) -> None:
    """It needs a maintainer's measurement, by commands to copy; a comment says whose word it is."""
    verdict, story = from_fork()
    assert render_verdict(verdict, story) == pages
    outline = Outline.parse(json.dumps(verdict.to_json()).encode(), "verdict.json")
    assert render_brief(outline, steps=story.next_steps, said_by="Whose word it is.") == pages


@pytest.mark.parametrize("decision", Decision)
def test_a_page_keeps_its_order(decision: Decision) -> None:
    """Marker, alert, what changed, numbers, tasks, evidence, next, then what is folded."""
    page = render_verdict(*dealt(decision))
    order = [
        *("<!-- evalgate:v1 -->\n> [!", "\n### What changed", "\n### Numbers", "\n### Tasks that"),
        *("\nEvidence: **", "\n### Next", "\n<details><summary>", "<summary>Soft signals"),
        *("<summary>All tasks", "<summary>How this was decided"),
    ]
    found = [page.index(part) for part in order if part in page]
    assert found == sorted(found)
    assert found[0] == 0


def test_a_reader_has_task_check_and_cause_before_anything_else() -> None:
    """In the alert itself: what broke, which check says so, and what was changed."""
    page = render_verdict(*dealt(Decision.REGRESSION))
    alert = page.partition("\n\n")[0].replace("\\", "")
    for said in (
        *("do not merge", "74 % → 54 %", "`parse-dates` passed 9/10 before and passes 1/10 now"),
        *("The check **hidden tests** fails", "test_leap_day", "agent/prompts/system.md +1 -2"),
    ):
        assert said in alert

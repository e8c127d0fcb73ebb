"""`evalgate show` of one trial: read the files in ``__snapshots__`` as at a terminal.

They are made by ``pytest --snapshot-update``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from benchmarks.made_runs import made_report
from evalgate.core.trajectory import Step
from evalgate.core.trial import Evidence, Outcome
from evalgate.core.tripwires import Hit
from evalgate.report.trial_story import LONG, TrialStory, render_story
from tests.hostile import HOSTILE

PLAIN = made_report(6, 5)
ODD = made_report(1, 12, texts=HOSTILE)


def story(outcome: Outcome, report=PLAIN, **more) -> TrialStory:
    """Return the story of the first trial that ended so."""
    trial = next(one for one in report.trials if one.outcome is outcome)
    page = report.pages[trial.task, trial.key.n]
    place = f"made:{trial.task}:{trial.key.n}"
    return TrialStory(place=place, trial=trial, page=page, grading=page.grading, **more)


def long_one() -> TrialStory:
    """Return one of many turns, some of them aside, that said something else at the end."""
    told = story(Outcome.FAILED, passing="made:window-1:4", files="/a folder/1")
    steps = told.page.trajectory.steps
    many = (*steps * 4, *(replace(step, conversation=1) for step in steps[:2]), Step())
    trajectory = replace(told.page.trajectory, steps=many)
    trial = replace(told.trial, agent_exit=3, final_answer="I can not.")
    return replace(told, trial=trial, page=replace(told.page, trajectory=trajectory))


def diverged() -> TrialStory:
    """Return one whose replay left its recording, under faults, with a tripwire touched."""
    told = story(Outcome.ERRORED)
    trial = replace(
        told.trial,
        checks=(),
        diverged="exchange 2",
        evidence=Evidence.FAULTED,
        faults=("stall of 2 s at request 1",),
        tripwires=(Hit(name="canary", place="log", excerpt="cat <CANARY>"),),
    )
    why = "the request matches no recorded exchange\n  cause  the system prompt differs\n"
    page = replace(told.page, divergence=why, log="", lacking=("its recording is not here",))
    return replace(told, trial=trial, page=page)


STORIES = {
    "passed": story(Outcome.PASSED, files="/runs/made"),
    "failed": story(Outcome.FAILED, passing="made:window 1:4"),
    "long": long_one(),
    "errored": story(Outcome.ERRORED),
    "diverged": diverged(),
    "read": story(Outcome.FAILED, detail=LONG),
    "hostile": story(Outcome.FAILED, report=ODD),
}


class Stories(SingleFileSnapshotExtension):
    """One text file a story."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.mark.parametrize("name", STORIES)
def test_the_story_of_a_trial(name, snapshot):
    """What a person reads, in full."""
    text = render_story(STORIES[name]).encode("utf-8", "backslashreplace").decode() + "\n"
    assert text == snapshot.use_extension(Stories)


@pytest.mark.parametrize("name", STORIES)
def test_only_headings_stand_at_the_edge(name):
    """Whoever wrote a line of it: strangers' words are indented, and move no cursor."""
    text = render_story(STORIES[name])
    assert not set(map(chr, (*range(9), *range(11, 32), 127, 0x9B, 0x202E, 0x2066))) & set(text)
    edge = [line for line in text.split("\n")[1:] if line and not line.startswith(" ")]
    assert text.startswith(f"{STORIES[name].trial.task} #")
    assert [line for line in edge if not line.endswith(":")] == []
    assert set(edge) <= {
        *("it was asked:", "it did:", "what it changed:", "where it went wrong:"),
        *("why it was not measured:", "checks:", "next:"),
    }

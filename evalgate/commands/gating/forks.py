"""A change from a fork that nobody measured: it is no fault of its author, who has no key."""

from __future__ import annotations

from dataclasses import replace

from evalgate.core.decision import is_waiting
from evalgate.core.verdict import Verdict
from evalgate.repo.pair import Pair
from evalgate.report.verdict import Story

_NEEDED = "It needs a maintainer's measurement."


def needs_maintainer(verdict: Verdict, pair: Pair) -> bool:
    """Tell whether only somebody with a key can go on: the evidence of a fork is not enough."""
    return is_waiting(verdict.decision, fork=pair.fork)


def for_maintainer(verdict: Verdict, story: Story, pair: Pair) -> tuple[Verdict, Story]:
    """Return the verdict that says so, with the commands for it; any other one as it is."""
    if not needs_maintainer(verdict, pair):
        return verdict, story
    context = {**verdict.context, "fork": True}
    told = replace(verdict, sentence=f"{verdict.sentence} {_NEEDED}", context=context)
    return told, replace(story, next_steps=pair.measuring or story.next_steps)

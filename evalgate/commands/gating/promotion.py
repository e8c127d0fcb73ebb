"""`evalgate gate --promote`: after a pass, the head's numbers become its baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.commands.baselines.accept import accept
from evalgate.commands.console import Console
from evalgate.commands.project import Project
from evalgate.core.decision import Decision
from evalgate.core.verdict import Verdict
from evalgate.errors import ExitCode, UsageError
from evalgate.report.verdict import Story

#: Decisions that say that a drop of the margin is excluded.
_WITHIN = frozenset({Decision.PASS, Decision.IMPROVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """A verdict with what became of the head's numbers; ``failed`` says why they were refused."""

    verdict: Verdict
    story: Story
    failed: str = ""


def promote(project: Project, verdict: Verdict, story: Story, console: Console) -> Promotion:
    """Write the baseline of a head that passed, from the trials that it was judged by.

    Whatever trials those are: that there are enough of them is what the verdict says. Nothing is
    written after any other decision, and nothing is committed.
    """
    if verdict.decision not in _WITHIN:
        note = f"not promoted: the decision is {verdict.decision}, and no pass"
        return _kept(verdict, replace(story, notes=(*story.notes, note)))
    run = str(verdict.context["run"])
    try:
        written = accept(project, run, console, reason=f"gate: {verdict.decision}", fewest=1)
    except UsageError as error:
        note = f"not promoted: {error.message}"
        refused = {**verdict.context, "exit_code": int(ExitCode.USAGE)}
        kept = _kept(replace(verdict, context=refused), replace(story, notes=(*story.notes, note)))
        return replace(kept, failed=error.message)
    name = f"baselines/{Path(written).name}"
    steps = (f'git add baselines && git commit -m "Accept the baseline {Path(written).stem}"',)
    return Promotion(
        verdict=replace(verdict, context={**verdict.context, "promoted": name}),
        story=replace(story, notes=(*story.notes, f"promoted: {name}"), next_steps=steps),
    )


def _kept(verdict: Verdict, story: Story) -> Promotion:
    context = {**verdict.context, "promoted": None}
    return Promotion(verdict=replace(verdict, context=context), story=story)

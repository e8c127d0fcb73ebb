"""A baseline that fits no more, measured under other conditions or moved: the way out of it."""

from __future__ import annotations

from dataclasses import replace

from evalgate.commands.project import State
from evalgate.core.decision import Decision
from evalgate.core.verdict import Verdict
from evalgate.report.verdict import Story


def unfitting(story: Story, verdict: Verdict, base: State, head: State) -> Story:
    """Return the story with the way out, where the baseline moved or has other conditions.

    An alias that the provider moved, another sandbox or agent: the base is measured anew. A
    change that asks for another model stands by its own numbers.
    """
    rev = f" --rev {base.view.commit[:12]}" if base.view.commit else ""
    step = f"evalgate baseline renew{rev}   # says what a new baseline of the base costs"
    if verdict.decision is Decision.MOVED:
        return replace(story, next_steps=(*story.next_steps, step))
    if verdict.decision is not Decision.NO_BASELINE or verdict.base is None or verdict.head is None:
        return story
    before, after = verdict.base.conditions, verdict.head.conditions
    if not before.differences(after):
        return story
    asked = [sorted(model.id for model in one.config.models.values()) for one in (base, head)]
    if asked[0] != asked[1]:
        note = "this change asks for another model: no number of the old one is compared with it"
        return replace(story, notes=(*story.notes, note))
    notes = story.notes
    if before.models_differ(after):
        notes += (
            f"the provider serves {', '.join(after.models)} for {', '.join(asked[0])}, and served"
            f" {', '.join(before.models)} when the baseline was made",
        )
    return replace(story, notes=notes, next_steps=(step,))

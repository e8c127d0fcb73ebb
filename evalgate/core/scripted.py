"""A scripted upstream: how a configuration names one, and how its replies are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: Before the path of a plan in ``upstream``, and before the model id in every reply, so that
#: wherever a served model is named, the word is said, and no real model compares with it.
SCRIPTED: Final = "scripted:"

#: The part of a harness that the plans it names are, besides what its globs match.
PART: Final = "scripted"

#: How a report says it.
WORDS: Final = "a plan of replies, not a model: it shows that the harness runs, no more"


def plan_path(upstream: str) -> str | None:
    """Return the path of the plan below the harness's root, or None for any other upstream."""
    return upstream.removeprefix(SCRIPTED) if upstream.startswith(SCRIPTED) else None


def served_as(model: str) -> str:
    """Return the id under which a scripted reply says it was served."""
    return f"{SCRIPTED}{model}"


def scripted_among(models: Iterable[str]) -> tuple[str, ...]:
    """Return those of the served ids that no model answered for."""
    return tuple(model for model in models if model.startswith(SCRIPTED))

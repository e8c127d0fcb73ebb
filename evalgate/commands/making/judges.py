"""By whose judges a head is judged: the base's, so that no change makes its own judge milder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evalgate.core.config import Config
from evalgate.core.harness import Harness
from evalgate.core.identity import digest
from evalgate.core.models import PROVIDERS, ModelSpec
from evalgate.core.task import Task


def judged_by(base: Config, harness: Harness) -> Harness:
    """Return the harness whose judges are asked where the base says; others where it says itself.

    It keeps its fingerprint: what it asks for is the same.
    """
    return replace(harness, judging={**harness.config.models, **base.models})


def judges_digest(tasks: Iterable[Task], models: Mapping[str, ModelSpec]) -> str:
    """Return twelve hex that name where the project's models are asked that judge some tasks."""
    names = _named(tasks)
    told = {name: list(models[name].served) if name in models else None for name in names}
    return digest(told, domain="evalgate judges")[:12]


def foreign_judges(harness: Harness, tasks: Sequence[Task]) -> str:
    """Name the judges of some tasks where they are not asked as the harness says; else empty."""
    named = judges_digest(tasks, harness.judges)
    return "" if named == judges_digest(tasks, harness.config.models) else named


def judge_edits(base: Config, head: Config, tasks: Iterable[Task]) -> tuple[str, ...]:
    """Name the models that judge the base's tasks and that a change serves elsewhere, or not."""
    found = []
    for name in _named(tasks):
        old, new = base.models.get(name), head.models.get(name)
        if old is None or (new is not None and new.served == old.served):
            continue
        told = "takes away" if new is None else "edits"
        after = "none" if new is None else _said(new)
        found.append(
            f"this change {told} the judge models.{name}: {_said(old)} → {after}; the base's is"
            " asked here"
        )
    return tuple(found)


def _named(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Name what judges of some tasks are served by that is no known provider, each once."""
    judges = (
        spec.params.get("judge")
        for task in tasks
        for spec in task.checks
        if spec.type == "llm_judge"
    )
    places = {str(one.get("upstream")) for one in judges if isinstance(one, Mapping)}
    return tuple(sorted(places - set(PROVIDERS)))


def _said(model: ModelSpec) -> str:
    upstream, dialect, key = model.served
    more = ", ".join(one for one in (dialect, f"key {key}" if key else "") if one)
    return f"{upstream} ({more})" if more else upstream

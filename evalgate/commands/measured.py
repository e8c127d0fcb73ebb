"""What was measured of one harness: its committed baselines, and the live runs made here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import Any

from evalgate.commands.project import State
from evalgate.core.sample import sample_of
from evalgate.core.session import Session, sessions_of
from evalgate.core.trial import Evidence
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind


def sessions_here(
    state: State, fingerprint: str, *, series: Collection[str] = ()
) -> tuple[Session, ...]:
    """Return the sessions of a harness in order of time, each trial once.

    They are the baselines in the tree of ``state`` and the finished live runs of this clone;
    what was made to check other trials is none, but in a ``series`` that is asked for.
    """
    runs = []
    for run in RunStore(state.project.state).finished():
        info, plan = run.info, run.plan
        wanted = plan.kind == Kind.RUN or plan.series in series
        if not wanted or plan.fingerprint != fingerprint:
            continue
        trials = [one for one in run.trials if one.key.fingerprint == fingerprint]
        sample = sample_of(trials, fingerprint=fingerprint, evidence=Evidence.MEASURED)
        runs.append((_day(info), sample))
    baselines = [(one.provenance.day, one.sample) for one in state.baselines(fingerprint)]
    return sessions_of(runs, baselines)


def _day(info: dict[str, Any]) -> date:
    return datetime.fromisoformat(info["times"]["started"]).date()

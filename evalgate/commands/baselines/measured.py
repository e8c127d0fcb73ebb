"""What was measured of one harness: its committed baselines, and the live runs made here."""

from __future__ import annotations

from collections.abc import Collection

from evalgate.commands.project import State
from evalgate.core.baseline import current, renewed
from evalgate.core.sample import Sample, sample_of
from evalgate.core.session import Session, sessions_of
from evalgate.core.trial import Evidence
from evalgate.store.runs import RunStore, began
from evalgate.wiring import Kind


def sessions_here(
    state: State, fingerprint: str, *, series: Collection[str] = ()
) -> tuple[Session, ...]:
    """Return the sessions of a harness in order of time, each trial once.

    They are the baselines in the tree of ``state`` and the finished live runs of this clone;
    what was made to check other trials is none, but in a ``series`` that is asked for. Where a
    baseline took the place of others, they and the runs before it are none: they begin anew with
    its own trials.
    """
    baselines = state.baselines(fingerprint)
    kept, renewal = current(baselines), renewed(baselines)
    own = set().union(*(_identities(one.sample) for one in kept))
    runs = []
    for run in RunStore(state.project.state).finished():
        plan = run.plan
        wanted = plan.kind == Kind.RUN or plan.series in series
        if not wanted or plan.fingerprint != fingerprint:
            continue
        trials = [one for one in run.trials if one.key.fingerprint == fingerprint]
        sample = sample_of(trials, fingerprint=fingerprint, evidence=Evidence.MEASURED)
        before = renewal is not None and began(run) <= renewal.provenance.time
        if before and not own & _identities(sample):
            continue
        runs.append((began(run).date(), sample))
    return sessions_of(runs, [(one.provenance.day, one.sample) for one in kept])


def _identities(sample: Sample) -> set[tuple[str, tuple[object, ...]]]:
    return {
        (task.task, row.identity)
        for task in sample.tasks.values()
        for row in task.rows
        if row.identity is not None
    }

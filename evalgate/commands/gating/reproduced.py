"""Recordings that were reproduced here before: a push need not wait for that again.

It is for the hook alone, whose word nobody else relies on. Who proves numbers grades them: what
lies in ``.evalgate/`` is no evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalgate import __version__
from evalgate.commands.making.reproduction import not_reproduced
from evalgate.commands.making.trials import Request, wires_digest
from evalgate.core.trial import Evidence, Outcome, Trial
from evalgate.errors import UsageError
from evalgate.runner.run import Job
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind

#: Kinds of runs whose trials were graded here.
_GRADED = frozenset({Kind.RUN, Kind.REPLAY, Kind.REGRADE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """A run, and its trials as a regrade of their recordings would make them."""

    run: RunFolder
    trials: tuple[Trial, ...]


def reproduced_here(store: RunStore, request: Request) -> Reproduced | None:
    """Return the newest run here in which all recordings of a regrade came out as they say.

    None where anything differs that a grade depends on (a recording or a task by its content,
    evalgate's version, tripwires, prices), or where a trial errored.
    """
    wires = wires_digest(request.tripwires or ())
    wanted = (__version__, request.harness.fingerprint, wires, request.prices, request.series)
    for run in reversed(store.finished()):
        plan = run.plan
        made = (plan.evalgate, plan.fingerprint, plan.tripwires, plan.prices, plan.series)
        if plan.kind in _GRADED and made == wanted:
            trials = _trials(run, request.jobs)
            if trials is not None:
                return Reproduced(run=run, trials=trials)
    return None


def _trials(run: RunFolder, jobs: Sequence[Job]) -> tuple[Trial, ...] | None:
    try:
        there: Mapping[tuple[str, int], Trial] = {(one.task, one.key.n): one for one in run.trials}
    except UsageError:  # what can not be read is left alone
        return None
    found = []
    for job in jobs:
        then, now = job.recorded, there.get((job.task.id, job.n))
        if then is None or now is None or now.outcome is Outcome.ERRORED:
            return None
        if (now.cassette, now.key.task_digest) != (then.tape.digest, job.task.digest):
            return None
        conditions = replace(then.conditions, checks=now.conditions.checks)
        found.append(replace(now, conditions=conditions, evidence=Evidence.REGRADED))
    return None if not_reproduced(jobs, found) else tuple(found)

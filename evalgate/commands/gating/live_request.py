"""What a gate may ask a model for: trials of one pair of harnesses, from one sum of money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalgate.commands.gating.evidence import Gathering, request_of
from evalgate.commands.making.budget import budget_of, require_prices
from evalgate.commands.making.judges import foreign_judges
from evalgate.commands.making.trials import Request, planned, wires_digest
from evalgate.core.identity import Conditions
from evalgate.core.sample import joint_conditions
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import UsageError
from evalgate.runner.run import Job
from evalgate.store.runs import RunStore
from evalgate.wiring import Kind


def require_known_upstreams(it: Gathering) -> None:
    """Refuse an upstream that the base does not have. UsageError names it."""
    # The change under review must not say where a key of this machine is sent. To a plan of
    # replies none is: it is answered here.
    known = {(m.upstream, m.key_env) for m in it.base.config.models.values()}
    for model in it.harness.config.models.values():
        if model.plan is None and (model.upstream, model.key_env) not in known:
            message = f"models.{model.name}: the change sends its requests to {model.upstream!r}"
            hint = "look at it, then measure it yourself: evalgate run --record"
            raise UsageError(message, hint=hint)


def live_request(it: Gathering, kind: Kind, jobs: Sequence[Job]) -> Request:
    """Return a request for live trials of the head within the base's budget.

    All requests for one pair of harnesses share it, in one call of the gate or in several.
    """
    budget = budget_of(it.base.config, it.max_usd)
    require_prices(it.harness, budget, it.tasks)
    return replace(request_of(it, kind, jobs), budget=budget, account=account_of(it))


def account_of(it: Gathering) -> str:
    """Return the name that all live trials for one pair of harnesses share their budget under."""
    return f"gate {it.base.harness.fingerprint}..{it.harness.fingerprint}"


def made_before(
    it: Gathering, request: Request, *, conditions: Conditions | None = None
) -> tuple[Trial, ...] | None:
    """Return the trials of the same request in its series, when it was made here already.

    Not what was made while something else than its tripwires was looked for or where judges were
    asked elsewhere, and not what errored too often to be a measurement; with ``conditions`` not
    what was made under others either.
    """
    policy = it.base.config.policy
    wanted = (
        request.kind,
        request.series,
        request.harness.fingerprint,
        "" if request.beside is None else request.beside.fingerprint,
        {task.id: task.digest for task in request.tasks},
        planned(request.jobs),
        foreign_judges(request.harness, request.tasks),
        wires_digest(request.tripwires or ()),
    )
    for run in reversed(RunStore(it.state.project.state).finished()):
        one = run.plan
        found = (one.kind, one.series, one.fingerprint, one.beside, one.tasks, one.trials)
        if (*found, one.judges, one.tripwires) != wanted:
            continue
        trials = run.trials
        errored = [trial for trial in trials if trial.outcome is Outcome.ERRORED]
        there = joint_conditions([trial.conditions for trial in trials])
        otherwise = conditions is not None and conditions.differences(there)
        if not otherwise and not policy.not_measured(len(errored), len(trials)):
            return trials
    return None

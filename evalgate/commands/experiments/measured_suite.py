"""A suite as its own baseline knows it: what `evalgate plan` and `evalgate noise` simulate from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.commands.baselines.ancestry import find_baseline
from evalgate.commands.baselines.measured import sessions_here
from evalgate.commands.making.cost import trial_costs
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.core.foresight import blind, noisy, unlucky
from evalgate.core.policy import Policy
from evalgate.core.rates import percent
from evalgate.core.sample import Sample
from evalgate.core.simulation import GATES
from evalgate.core.trial import Outcome
from evalgate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSuite:
    """Passes and runs of each task's baseline, and what else a gate on it goes by.

    ``costs`` is US dollars a trial by task, None where that is unknown; ``trials`` how many of a
    task are configured. ``outcomes``, where they were asked for, tell whether each live trial of
    a task passed, from baselines and runs made here under the baseline's conditions. ``left_out``
    are tasks of the suite that the baseline has no trial of, as they are now; ``unpriced`` the keys
    of the configuration that would say what a model costs, and are not set.
    """

    policy: Policy
    stored: Mapping[str, tuple[int, int]]
    costs: Mapping[str, float] | None
    trials: int
    outcomes: Mapping[str, Sequence[bool]]
    left_out: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()

    @property
    def foreseen(self) -> tuple[str, ...]:
        """What keeps a gate with so many trials from seeing, or makes it cry wolf, if anything."""
        stored, policy, runs = self.stored, self.policy, self.trials
        return (
            *blind(stored, policy, runs=runs),
            *noisy(stored, policy, runs=runs),
            *unlucky(stored, policy, runs=runs),
        )

    @property
    def runs(self) -> int:
        """How many runs are stored."""
        return sum(runs for _, runs in self.stored.values())


def measured_suite(project: Project, rev: str | None, *, outcomes: bool = False) -> MeasuredSuite:
    """Return what is known of a revision's suite.

    Raises:
        UsageError: nobody measured its harness, or no task of it as it is now.
    """
    with open_state(project, subject_of(rev)) as state:
        found = find_baseline(state)
        if found is None:
            message = f"nobody measured the harness of {state.view.label}"
            hint = "evalgate run -k 20, then evalgate baseline accept"
            raise UsageError(message, hint=hint)
        policy = state.config.policy
        digests = {
            task.id: task.digest for task in state.tasks if task.id not in policy.quarantined
        }
        stored = found.sample.stored_of(digests)
        if not stored:
            message = f"the baseline of {state.view.label} has no trial of any task as it is now"
            raise UsageError(message, hint="evalgate baseline renew says what a new one takes")
        sample = found.sample.without(found.sample.tasks.keys() - stored.keys())
        return MeasuredSuite(
            policy=policy,
            stored=stored,
            costs=trial_costs(found.sample, state.harness, stored),
            trials=state.config.trials,
            outcomes=_outcomes(state, sample) if outcomes else {},
            unpriced=state.config.unpriced,
            left_out=tuple(name for name in digests if name not in stored),
        )


def said_share(share: float) -> str:
    """Say a share of simulated gates, for a person."""
    return percent(round(share * GATES), GATES)


def said_of_left_out(tasks: Sequence[str]) -> str:
    """Say which tasks were left out, for a person."""
    return f"Left out, for the baseline has no trial of them: {', '.join(tasks)}."


def _outcomes(state: State, sample: Sample) -> dict[str, list[bool]]:
    known: dict[str, list[bool]] = {name: [] for name in sample.tasks}
    for session in sessions_here(state, sample.fingerprint):
        if sample.conditions.differences(session.sample.conditions):
            continue
        for name, task in session.sample.tasks.items():
            if name in known and task.digest == sample.tasks[name].digest:
                known[name] += [row.outcome is Outcome.PASSED for row in task.measured]
    return known

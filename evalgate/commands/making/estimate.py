"""What trials would come to, said before any of them is made."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from evalgate.checks.judge import LlmJudge
from evalgate.checks.table import build_judges
from evalgate.commands.making.cost import trial_costs
from evalgate.commands.project import State
from evalgate.core.baseline import pool
from evalgate.core.foresight import blind, too_small, unlucky
from evalgate.core.harness import Harness
from evalgate.core.pricing import cost_usd
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.soft import median
from evalgate.core.task import Task
from evalgate.core.trajectory import Usage

#: What the line begins with.
ESTIMATE: Final = "estimate: "
#: What a judge is taken to read and write for one sample: no baseline holds what it did.
_SAMPLE: Final = Usage(input_tokens=2_000, output_tokens=100)


def estimate(state: State, harness: Harness, tasks: Sequence[Task], trials: int) -> str:
    """Return one line: how many trials, about how many calls, about how much money.

    Calls and money come from the newest committed baseline; without one they are unknown. Judges
    are asked beside that, at a price of their own, for texts that are taken to be of one length.
    """
    sample = _newest(state)
    ids = {task.id for task in tasks}
    rows = [row.signals for row in sample.rows] if sample else []
    turns = [row.turns for row in rows if row.turns is not None]
    calls = f"about {round(median(turns) * trials)} model calls" if turns else "calls unknown"
    judges = [judge for task in tasks for judge in build_judges(task, harness.judges)]
    times = trials / len(tasks) if tasks else 0
    each, judged = _of_agents(sample, harness, ids), _of_judges(judges)
    money = cost_unknown(harness.config.unpriced)
    if each is not None and judged is not None:
        usd = each * trials + judged * times
        money = f"about ${usd:.2f}" if usd else "cost $0 (the model runs here)"
    asked = ""
    if judges:
        samples = sum(judge.samples for judge in judges)
        asked = f", with {round(samples * times)} questions to judges"
    counts = f"{counted(trials, 'trial')} of {counted(len(ids), 'task')}"
    return f"{ESTIMATE}{counts}, {calls}, {money}{asked}"


def cost_unknown(unpriced: Sequence[str]) -> str:
    """Say that nobody knows what trials cost, and which keys of the configuration would help."""
    are = "is" if len(unpriced) == 1 else "are"
    return "cost unknown" + (f" ({', '.join(unpriced)} {are} not set)" if unpriced else "")


def foreseen(state: State) -> tuple[str, ...]:
    """Say, before any trial is made, when gates on the suite could not block, or only by chance.

    It is held against the newest committed baseline; without one, against the best there could be.
    """
    config = state.config
    tasks = {t.id: t.digest for t in state.tasks if t.id not in config.policy.quarantined}
    sample = _newest(state)
    stored = {} if sample is None else sample.stored_of(tasks)
    if not stored:
        return too_small(len(tasks), config.policy, runs=config.trials)
    return (
        *blind(stored, config.policy, runs=config.trials),
        *unlucky(stored, config.policy, runs=config.trials),
    )


def _newest(state: State) -> Sample | None:
    return pool(sorted(state.baselines(), key=lambda one: one.provenance.date)[-1:])


def _of_agents(sample: Sample | None, harness: Harness, tasks: Collection[str]) -> float | None:
    """Return the mean cost of a trial of some tasks, without its judges."""
    prices = {model.price for model in harness.config.models.values()}
    if all(price is not None and not (price.input or price.output) for price in prices):
        return 0.0
    costs = trial_costs(sample, harness, tasks) if sample else None
    return math.fsum(costs.values()) / len(costs) if costs else None


def _of_judges(judges: Sequence[LlmJudge]) -> float | None:
    """Return what it costs to ask some judges about one text each."""
    costs = [(judge.samples, cost_usd(_SAMPLE, judge.model.price)) for judge in judges]
    known = [samples * usd for samples, usd in costs if usd is not None]
    return math.fsum(known) if len(known) == len(costs) else None

"""What a run that asks a model may use, and whether that can be held."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from evalgate.checks.judge import judges_in
from evalgate.checks.table import build_checks
from evalgate.core.config import Config
from evalgate.core.harness import Harness
from evalgate.core.limits import Allowance
from evalgate.core.models import ModelSpec
from evalgate.core.task import Task
from evalgate.errors import UsageError
from evalgate.gateway.limits.charge import unknown_price


def budget_of(config: Config, max_usd: float | None) -> Allowance:
    """Return what a run may use: the configuration's budget, ``max_usd`` in place of its money.

    UsageError when that is no amount of money.
    """
    if max_usd is None:
        return config.budget
    if not math.isfinite(max_usd):
        message = f"a budget of {max_usd} is no amount of money"
        raise UsageError(message, hint="give US dollars, for example --usd 5")
    return replace(config.budget, usd=max_usd)


def require_prices(harness: Harness, budget: Allowance, tasks: Sequence[Task] = ()) -> None:
    """Refuse a budget, or a task's limit, that can not hold because a price is unknown."""
    limited = [task.id for task in tasks if task.limits.max_usd is not None]
    what = "a budget" if budget.usd is not None else f"max_usd of task {''.join(limited[:1])}"
    if budget.usd is None and not limited:
        return
    for model in harness.config.models.values():
        if model.price is None:
            raise unknown_price(f"models.{model.name}", what)
    if budget.usd is not None:
        checks = (check for task in tasks for _, check in build_checks(task, harness.judges))
        for judge in judges_in(checks):
            require_judge_price(judge, budget)


def require_judge_price(judge: ModelSpec, budget: Allowance) -> None:
    """Refuse a budget that can not hold because the price of a judging model is unknown."""
    if budget.usd is not None and judge.price is None:
        raise unknown_price(f"judge {judge.id}", "a budget")

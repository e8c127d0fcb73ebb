"""What a suite, its baseline and its policy let a gate see, said before any trial is made."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalgate.core.normal import normal_cdf
from evalgate.core.policy import Policy
from evalgate.core.rates import counted, percent
from evalgate.core.rule import can_block, noise_of

#: Passes and runs of each task's baseline.
Stored = Mapping[str, tuple[int, int]]

#: A floor that an unchanged harness falls below more often than this cries wolf.
_OFTEN = 0.05


def blind(stored: Stored, policy: Policy, *, runs: int) -> tuple[str, ...]:
    """Say so when no numbers of the head could block by the rule for trials that exist."""
    if can_block(stored, policy, runs=runs):
        return ()
    return (
        f"with this baseline and {counted(runs, 'trial')} of {counted(len(stored), 'task')} that"
        " it has numbers of nothing could ever block: measure the baseline more often, or add tasks"
        " (evalgate plan)",
    )


def too_small(tasks: int, policy: Policy, *, runs: int) -> tuple[str, ...]:
    """Say so when nothing could block even where a baseline of as many runs passes them all."""
    best = {str(number): (runs, runs) for number in range(tasks)}
    if not tasks or can_block(best, policy, runs=runs):
        return ()
    return (
        f"{counted(runs, 'trial')} of {counted(tasks, 'task')} could never block, were every one"
        " to pass before and to fail now: raise suite.trials, or add tasks",
    )


def noisy(stored: Stored, policy: Policy, *, runs: int) -> tuple[str, ...]:
    """Say so when the policy's margin is smaller than what chance alone leaves open."""
    if not any(made for _, made in stored.values()):
        return ()
    noise = noise_of(stored, runs=runs)
    if noise <= policy.margin:
        return ()
    return (
        f"with this baseline and {counted(runs, 'trial')} a task, a drop of up to"
        f" {100 * noise:.0f} points stays open where nothing fell: policy.margin"
        f" ({100 * policy.margin:g}) lies within the noise (evalgate plan)",
    )


def unlucky(stored: Stored, policy: Policy, *, runs: int) -> tuple[str, ...]:
    """Say which absolute floors an unchanged harness misses by chance alone, and how often.

    It is taken to pass as often as its baseline did: a task that must pass fails at least once
    with chance 1 - rate^runs, the mean pass rate is below its floor by the normal approximation
    to the sum of binomials (de Moivre-Laplace, with continuity correction).
    """
    rates = {task: passed / made for task, (passed, made) in stored.items() if made}
    if not rates:
        return ()
    said = []
    for task in policy.must_pass:
        chance = 1 - rates.get(task, 1.0) ** runs
        if chance > _OFTEN:
            passed, made = stored[task]
            said.append(
                f"policy.must_pass: {task} passed {passed} of {made} in the baseline, so that with"
                f" nothing changed {_share(chance)} of gates of {counted(runs, 'trial')} block"
            )
    trials = runs * len(rates)
    mean = runs * math.fsum(rates.values())
    spread = math.sqrt(runs * math.fsum(rate * (1 - rate) for rate in rates.values()))
    least = math.ceil(policy.min_pass_rate * trials - 1e-9)
    below = least - 0.5 - mean
    chance = normal_cdf(below / spread) if spread else float(below > 0)
    if policy.min_pass_rate and chance > _OFTEN:
        said.append(
            f"policy.min_pass_rate ({100 * policy.min_pass_rate:g} %) lies within the noise: the"
            f" baseline passes {100 * mean / trials:.1f} %, so that with nothing changed"
            f" {_share(chance)} of gates block"
        )
    return tuple(said)


def _share(chance: float) -> str:
    return f"about {percent(round(1000 * chance), 1000)}"

"""Whether trials that were made again came to what their recordings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evalgate.core.json import Json
from evalgate.core.plain import shortened
from evalgate.core.trial import Outcome, Trial
from evalgate.runner.run import Job

#: Signals that older recordings may not have.
_SINCE: Final = ("repeated_calls", "confirmations_asked")


def not_reproduced(
    jobs: Sequence[Job], trials: Sequence[Trial], *, repriced: bool = False
) -> list[str]:
    """Name the trials whose numbers differ from those in their recording.

    What they cost is no such number where they were ``repriced``.
    """
    recorded = {(job.task.id, job.n): job.recorded for job in jobs}
    found = []
    for trial in trials:
        then = recorded.get((trial.task, trial.key.n))
        if then is None or trial.diverged or not_measured_here(then.measured, trial):
            continue
        was, now = then.measured, trial.measured()
        if repriced:
            was, now = _without_cost(was), _without_cost(now)
        told = told_apart(was, now)
        if told:
            found.append(f"{trial.task} #{trial.key.n}: {told}")
    return found


def told_apart(then: Mapping[str, Json], measured: dict[str, Json]) -> str:
    """Say what was measured otherwise than a recording says; empty where it is the same."""
    now = _as_far_as(then, measured)
    told = "; ".join(
        f"{key}: {then.get(key)} → {now[key]}"
        for key in ("outcome", "reason", "checks", "signals")
        if then.get(key) != now[key]
    )
    return shortened(told, 300)


def _as_far_as(then: Mapping[str, Json], now: dict[str, Json]) -> dict[str, Json]:
    """Leave out the signals that evalgate did not know when the recording was made."""
    known, signals = then.get("signals"), now["signals"]
    if not isinstance(known, Mapping) or not isinstance(signals, dict):
        return now
    since = {name for name in _SINCE if name not in known}
    return {**now, "signals": {k: v for k, v in signals.items() if k not in since}}


def _without_cost(numbers: Mapping[str, Json]) -> dict[str, Json]:
    signals = numbers.get("signals")
    if not isinstance(signals, Mapping):
        return {**numbers}
    return {**numbers, "signals": {k: v for k, v in signals.items() if k != "cost_usd"}}


def not_measured_here(then: Mapping[str, Json], trial: Trial) -> bool:
    """Tell whether a recorded trial only failed to be measured again: that proves nothing."""
    return trial.outcome is Outcome.ERRORED and then.get("outcome") != Outcome.ERRORED

"""How long the rest of a run will take, by what it has taken so far."""

from __future__ import annotations

from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 3600


def seconds_left(*, total: int, done: int, before: int, elapsed: float) -> float | None:
    """Return the seconds that the rest takes at the pace so far; None while nothing is known.

    ``before`` of the ``done`` trials existed when it began, ``elapsed`` seconds ago.
    """
    made = done - before
    return elapsed / made * (total - done) if made > 0 else None


def pace(*, total: int, done: int, before: int, elapsed: float) -> list[str]:
    """Return how long it has taken, and about how long it will; arguments as of `seconds_left`."""
    left = seconds_left(total=total, done=done, before=before, elapsed=elapsed)
    return [as_clock(elapsed), *([] if left is None else [f"about {as_clock(left)} left"])]


def spend(usd: float | None) -> str:
    """Return what trials have cost so far in US dollars; None is unknown."""
    return "cost unknown" if usd is None else f"${usd:.4f}"


def as_clock(seconds: float) -> str:
    """Return seconds as a clock shows them: ``0:07``, ``12:05``, ``1:00:00``."""
    whole = max(0, int(seconds))
    minutes = f"{whole % _HOUR // _MINUTE}:{whole % _MINUTE:02}"
    return minutes if whole < _HOUR else f"{whole // _HOUR}:{minutes:>05}"

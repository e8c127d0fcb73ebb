"""Waits of the main thread that a signal ends whenever it comes.

Python looks for signals and then waits for a lock: one that comes between the two is kept, and
wakes nobody. So nothing here waits for longer than a beat at once.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Final, TypeVar

_BEAT: Final = 0.25  # seconds

_Result = TypeVar("_Result")


def first_of(futures: Collection[Future[_Result]]) -> set[Future[_Result]]:
    """Return those of some futures that are done, as soon as one is; at least one is given."""
    while True:
        done, _ = wait(futures, timeout=_BEAT, return_when=FIRST_COMPLETED)
        if done:
            return done


def all_of(futures: Collection[Future[Any]]) -> None:
    """Return when all futures are done."""
    while wait(futures, timeout=_BEAT).not_done:
        pass

"""A trial that was made, and what is left to do once it is on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalgate.core.trial import Trial


def _nothing() -> None:
    """Do nothing: there was neither a journal nor a meter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A trial; ``settle`` is called when its line is on disk, and never before.

    Only then its journals may go, and what it used is found in it.
    """

    trial: Trial
    settle: Callable[[], None] = _nothing

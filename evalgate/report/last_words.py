"""What the agent said last in two trials: the reply itself tells how a prompt broke a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWords:
    """The last reply of a trial that passed before, and of one that fails now; None is unknown."""

    before: str | None
    after: str | None

    @property
    def told(self) -> Iterator[tuple[str, str]]:
        """Yield what is known: a sentence, and the words themselves, empty where none were said."""
        if self.before is not None and self.before == self.after:
            yield _told("Both in a trial that passed before and in this one", self.before)
            return
        if self.before is not None:
            yield _told("In a trial that passed before", self.before)
        if self.after is not None:
            yield _told("In this trial, which fails", self.after)


def _told(where: str, words: str) -> tuple[str, str]:
    if not words.strip():
        return f"{where}, the agent said nothing at the end.", ""
    return f"{where}, the agent said last:", words

"""What a terminal shows while trials are made, redrawn in place; the one door to rich."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evalgate.core.pace import as_clock, pace, spend
from evalgate.core.plain import plain

#: So many trials at work are shown, or the bar would leave a small screen.
_SHOWN: Final = 8
_BAR: Final = 24

#: What trials have cost so far in US dollars; None where that is unknown.
Spent = Callable[[], float | None]


class Board:
    """A bar with counts, times and money, and below it what each worker is at.

    Whatever ends the context, the board is wiped off and the cursor is there again.
    """

    def __init__(self, *, color: bool, spent: Spent | None) -> None:
        """``spent`` is None where nothing is paid for."""
        self._console = Console(stderr=True, no_color=not color)
        self._spent = spent
        self._total = self._done = self._before = 0
        self._began = time.monotonic()
        self._counts = ""
        self._working: dict[str, tuple[str, float]] = {}
        self._live = Live(
            self,
            console=self._console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,  # that is data
        )

    def __enter__(self) -> Self:
        """Show it."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe it off."""
        with contextlib.suppress(OSError, ValueError):  # the terminal was closed
            self._live.stop()

    def say(self, text: str) -> None:
        """Print lines above it."""
        with contextlib.suppress(OSError, ValueError):
            self._console.print(Text(text), soft_wrap=True)

    def begin(self, *, total: int, done: int) -> None:
        """Count from here: ``done`` of ``total`` trials exist."""
        self._total, self._done, self._before = total, done, done
        self._began = time.monotonic()

    def count(self, counts: str) -> None:
        """One more trial is done; ``counts`` says how all of them ended."""
        self._done += 1
        self._counts = counts

    def at(self, trial: str, stage: str) -> None:
        """A worker is at this stage of a trial."""
        self._working[trial] = (stage, time.monotonic())

    def left(self, trial: str) -> None:
        """Nobody works on a trial any more."""
        self._working.pop(trial, None)

    def __rich__(self) -> Group:
        """Draw it as it stands now."""
        now = time.monotonic()
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self._total or 1, completed=self._done, width=_BAR)
        head.add_row(
            Text(f"{self._done}/{self._total}"), bar, *map(_line, self._told(now - self._began))
        )
        working = self._working.copy()
        rows = Table.grid(padding=(0, 2))
        for trial, (stage, since) in [*working.items()][:_SHOWN]:
            rows.add_row("", _line(trial), _line(stage), _line(as_clock(now - since)))
        if len(working) > _SHOWN:
            rows.add_row("", _line(f"and {len(working) - _SHOWN} more"), "", "")
        return Group(head, _line(self._counts), rows) if self._counts else Group(head, rows)

    def _told(self, elapsed: float) -> list[str]:
        told = pace(total=self._total, done=self._done, before=self._before, elapsed=elapsed)
        return told if self._spent is None else [*told, spend(self._spent())]


def _line(text: str) -> Text:
    return Text(" ".join(plain(text).split()), no_wrap=True, overflow="ellipsis")

"""What a command says while it works: stdout is data, stderr is progress."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from evalgate.core.pace import pace, spend
from evalgate.core.plain import plain, shortened
from evalgate.core.rates import counted
from evalgate.core.trial import Evidence, Outcome, Trial

if TYPE_CHECKING:
    from evalgate.commands.board import Board, Spent

#: Trials whose seconds were measured when they were recorded.
_RECORDED_TIMES = {Evidence.REPLAYED, Evidence.REGRADED}

#: Seconds between two lines that say how far it is, where no board can be shown.
_SPARSE: Final = 30.0

_MARKS = {Outcome.PASSED: "pass", Outcome.FAILED: "fail", Outcome.ERRORED: "error"}


@dataclass
class Console:
    """Progress and notes on stderr: a board on a terminal, plain lines elsewhere."""

    quiet: bool = False
    color: bool = True
    _total: int = 0
    _done: int = 0
    _counts: dict[Outcome, int] = field(default_factory=dict)
    _board: Board | None = None
    _spent: Spent | None = None
    _before: int = 0
    _began: float = 0.0
    _told: float = 0.0
    clock: Callable[[], float] = time.monotonic

    def note(self, text: str) -> None:
        """Say one line."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say one line that nobody may miss, however quiet the command is."""
        text = plain(text)
        if self._board is not None:
            self._board.say(text)
        else:
            with contextlib.suppress(OSError, ValueError):  # nobody reads any more
                print(text, file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, spent: Spent | None = None) -> Iterator[None]:
        """Show a board while trials are made, where a person watches; ``spent`` is on it.

        Elsewhere a line now and then says the same.
        """
        self._spent = spent
        if self.quiet or not _is_screen():
            yield
            return
        from evalgate.commands.board import Board  # noqa: PLC0415 - only where a person watches

        with Board(color=self.color, spent=spent) as board:
            self._board = board
            try:
                yield
            finally:
                self._board = None

    @contextmanager
    def at_work(self, task: str, n: int) -> Iterator[Callable[[str], None]]:
        """Show that a trial is worked on; what is yielded takes the name of each stage of it."""
        board, trial = self._board, f"{task} #{n}"
        if board is None:
            yield lambda _: None
            return
        try:
            yield partial(board.at, trial)
        finally:
            board.left(trial)

    def begin(self, *, total: int, done: int) -> None:
        """A run of ``total`` trials starts, ``done`` of which exist already."""
        self._total, self._done, self._before = total, done, done
        self._began = self._told = self.clock()
        self._counts = {}
        if done:
            self.note(f"going on: {done} of {counted(total, 'trial')} exist already")
        if self._board is not None:
            self._board.begin(total=total, done=done)

    def finished(self, trial: Trial) -> None:
        """One trial is on disk."""
        self._done += 1
        self._counts[trial.outcome] = self._counts.get(trial.outcome, 0) + 1
        counts = " ".join(f"{count} {word}" for word, count in self._counts.items())
        if self._board is not None:
            self._board.count(counts)
        if self._board is None or trial.outcome is Outcome.ERRORED:
            seconds = trial.signals.seconds
            then = " as recorded" if trial.evidence in _RECORDED_TIMES else ""
            took = "" if seconds is None else f" {seconds:.1f}s{then}"
            why = f"  {shortened(plain(trial.reason), 198)}" if trial.reason else ""
            mark = _MARKS[trial.outcome]
            place = f"[{self._done}/{self._total}]"
            self.note(f"{place} {mark:5} {trial.task} #{trial.key.n}{took}{why}")
        if self._board is None:
            self._tell_pace()
        for hit in trial.tripwires:
            where = f"{trial.task} #{trial.key.n}, {hit.place}"
            self.warn(f"tripwire {hit.name}: {where}: {hit.excerpt}")

    def _tell_pace(self) -> None:
        """Say now and then how far it is, how long it will take, and what it has cost."""
        now = self.clock()
        if now - self._told < _SPARSE or self._done >= self._total:
            return
        self._told = now
        elapsed = now - self._began
        told = pace(total=self._total, done=self._done, before=self._before, elapsed=elapsed)
        told += [] if self._spent is None else [spend(self._spent())]
        self.note(f"[{self._done}/{self._total}] {', '.join(told)}")


def _is_screen() -> bool:
    """Tell whether stderr is a terminal on which lines can be drawn again."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

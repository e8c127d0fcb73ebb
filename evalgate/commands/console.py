"""What a command says while it works: stdout is data, stderr is progress."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalgate.core.plain import plain
from evalgate.core.trial import Evidence, Outcome, Trial

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Trials whose seconds were measured when they were recorded.
_RECORDED_TIMES = {Evidence.REPLAYED, Evidence.REGRADED}

_MARKS = {Outcome.PASSED: "pass", Outcome.FAILED: "fail", Outcome.ERRORED: "error"}


@dataclass
class Console:
    """Progress and notes on stderr: bars on a terminal, plain lines elsewhere."""

    quiet: bool = False
    color: bool = True
    _total: int = 0
    _done: int = 0
    _counts: dict[Outcome, int] = field(default_factory=dict)
    _bar: Progress | None = None
    _bar_task: TaskID | None = None

    def note(self, text: str) -> None:
        """Say one line."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say one line that nobody may miss, however quiet the command is."""
        text = plain(text)
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            with contextlib.suppress(OSError, ValueError):  # nobody reads any more
                print(text, file=sys.stderr, flush=True)

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Show a bar while trials run, where stderr is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich import console, progress  # noqa: PLC0415 - only where a person watches

        stderr = console.Console(stderr=True, no_color=not self.color)
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=stderr) as bar:
            self._bar = bar
            try:
                yield
            finally:
                self._bar = None

    def begin(self, *, total: int, done: int) -> None:
        """A run of ``total`` trials starts, ``done`` of which exist already."""
        self._total, self._done = total, done
        self._counts = {}
        if done:
            self.note(f"going on: {done} of {total} trials exist already")
        if self._bar is not None:
            self._bar_task = self._bar.add_task("trials", total=total, completed=done)

    def finished(self, trial: Trial) -> None:
        """One trial is on disk."""
        self._done += 1
        self._counts[trial.outcome] = self._counts.get(trial.outcome, 0) + 1
        counts = " ".join(f"{count} {word}" for word, count in self._counts.items())
        if self._bar is not None and self._bar_task is not None:
            self._bar.update(self._bar_task, advance=1, description=counts)
        if self._bar is None or trial.outcome is Outcome.ERRORED:
            seconds = trial.signals.seconds
            then = " as recorded" if trial.evidence in _RECORDED_TIMES else ""
            took = "" if seconds is None else f" {seconds:.1f}s{then}"
            why = f"  {plain(trial.reason)[:198]}" if trial.reason else ""
            mark = _MARKS[trial.outcome]
            place = f"[{self._done}/{self._total}]"
            self.note(f"{place} {mark:5} {trial.task} #{trial.key.n}{took}{why}")
        for hit in trial.tripwires:
            where = f"{trial.task} #{trial.key.n}, {hit.place}"
            self.warn(f"tripwire {hit.name}: {where}: {hit.excerpt}")

"""`evalgate noise`: how often the gate cries wolf on this suite, nothing changed (A/A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.baselines.accept import ENOUGH
from evalgate.commands.experiments.measured_suite import (
    MeasuredSuite,
    measured_suite,
    said_of_left_out,
    said_share,
)
from evalgate.commands.project import Project
from evalgate.core.dealing import dealt_outlook, trials_needed
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.rounds import looks
from evalgate.core.simulation import DROPS, GATES, Outlook, outlook, smallest_drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How noisy the gate is on this suite as it is: nothing changed.

    ``nothing`` is simulated from the stored rates; ``real`` is dealt from trials that were made,
    of ``real_tasks`` tasks with ``real_stored`` of each as the baseline, and None where there are
    too few: then ``missing`` more of each task would do.
    """

    trials: int
    tasks: int
    runs: int
    nothing: Outlook
    smallest: float | None
    real: Outlook | None
    real_tasks: int
    real_stored: int
    missing: int
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say it in a few lines."""
        seen = (
            f"The smallest drop that it finds four times in five: {self.smallest * 100:g} points."
            if self.smallest is not None
            else f"It finds no even drop of up to {DROPS[-1]} points four times in five."
        )
        rounds = ", ".join(map(str, looks(self.trials)))
        return "\n".join(
            (
                f"{counted(self.tasks, 'task')} × {counted(self.trials, 'trial')}"
                f" (looks at {rounds}) against {counted(self.runs, 'stored trial')},"
                f" {GATES} simulated gates with nothing changed:",
                f"{said_share(self.nothing.suspected)} are suspected and run afresh,"
                f" {said_share(self.nothing.blocked)} are blocked.",
                seen,
                self._by_real_trials(),
                *([said_of_left_out(self.left_out)] if self.left_out else []),
            )
        )

    def _by_real_trials(self) -> str:
        if self.real is None:
            return (
                f"All of that is simulated. {self.missing} more trials of each task"
                f" (evalgate run -k {self.missing}) would let it be dealt from real ones."
            )
        return (
            f"Dealt from the real trials of {counted(self.real_tasks, 'task')}, "
            f"{self.real_stored} of each as the baseline and no trial twice: "
            f"{said_share(self.real.suspected)} are suspected, "
            f"{said_share(self.real.blocked)} are blocked."
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "trials": self.trials,
            "tasks": self.tasks,
            "stored_trials": self.runs,
            "left_out": list(self.left_out),
            "suspected": self.nothing.suspected,
            "false_blocks": self.nothing.blocked,
            "smallest_drop": self.smallest,
            "real": None
            if self.real is None
            else {
                "tasks": self.real_tasks,
                "stored_trials_a_task": self.real_stored,
                "suspected": self.real.suspected,
                "false_blocks": self.real.blocked,
            },
        }


def noise(project: Project, *, rev: str | None, trials: int | None) -> Noise:
    """Let gates judge one harness against itself: simulated, and of real trials where there are.

    Raises:
        UsageError: nobody measured this harness.
    """
    suite = measured_suite(project, rev, outcomes=True)
    planned = trials or suite.trials
    stored = min(ENOUGH, *(runs for _, runs in suite.stored.values()))
    needed = trials_needed(stored=stored, planned=planned)
    enough = {
        name: suite.outcomes[name] for name in suite.stored if len(suite.outcomes[name]) >= needed
    }
    least = min(len(suite.outcomes[name]) for name in suite.stored)
    return Noise(
        trials=planned,
        tasks=len(suite.stored),
        runs=suite.runs,
        nothing=outlook(suite.stored, suite.policy, planned=planned, drop=0.0, gates=GATES),
        smallest=smallest_drop(suite.stored, suite.policy, planned=planned, gates=GATES),
        real=_dealt(suite, enough, stored, planned) if enough else None,
        real_tasks=len(enough),
        real_stored=stored,
        missing=max(0, needed - least),
        left_out=suite.left_out,
    )


def _dealt(
    suite: MeasuredSuite, outcomes: dict[str, Sequence[bool]], stored: int, planned: int
) -> Outlook:
    return dealt_outlook(
        outcomes, outcomes, suite.policy, stored=stored, planned=planned, gates=GATES
    )

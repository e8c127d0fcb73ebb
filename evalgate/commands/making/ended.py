"""How a command that makes trials ended: a complete run, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.tables import render_sample
from evalgate.core.json import Json
from evalgate.core.sample import Sample
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import ExitCode
from evalgate.store.runs import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A complete run: its folder, its trials, and those of the harness asked for as a sample."""

    run: RunFolder
    trials: tuple[Trial, ...]
    sample: Sample
    sandbox: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a command that makes trials ended: for a program (``to_json``) and for a person."""

    exit_code: ExitCode
    finished: Finished | None = None
    problems: tuple[str, ...] = ()
    closing: str = ""

    @property
    def text(self) -> str:
        """The table of trials, what went wrong, and a closing line."""
        table = "" if self.finished is None else render_sample(self.finished.sample)
        return "\n".join(filter(None, (table, *self.problems, self.closing)))

    def to_json(self) -> dict[str, Json]:
        """Return the document of ``--json``."""
        run: dict[str, Json] = {}
        if self.finished is not None:
            sample = self.finished.sample
            run = {
                "run": self.finished.run.id,
                "fingerprint": sample.fingerprint,
                "evidence": str(sample.evidence),
                "models": list(sample.conditions.models),
                "sandbox": self.finished.sandbox,
                "tasks": summary(self.finished.trials),
            }
        found: list[Json] = [*self.problems]
        return {"exit_code": int(self.exit_code), "problems": found, "note": self.closing, **run}


def summary(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """Count each task's outcomes."""
    tasks: dict[str, dict[str, int]] = {}
    for trial in trials:
        counts = tasks.setdefault(trial.task, {str(outcome): 0 for outcome in Outcome})
        counts[str(trial.outcome)] += 1
    return tasks

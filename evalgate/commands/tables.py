"""Plain text tables of trials and tasks for stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalgate.core.plain import plain, shortened
from evalgate.core.rates import percent
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.scripted import WORDS, scripted_among
from evalgate.core.trial import MARKS

#: Columns of numbers that may be unknown: the mean of a trial, left out where no task has one.
_IF_KNOWN = {"time", "cost"}
#: So many characters of a reason stand in a row.
WIDE: Final = 90


def render_sample(sample: Sample) -> str:
    """Return one line a task, with what a trial of it takes, and a line in all."""
    tasks = [*sample.tasks.values()]
    columns = [
        ("task", [task.task for task in tasks]),
        ("passed", [f"{task.passed}/{len(task.measured)}" for task in tasks]),
        ("trials", ["".join(MARKS[row.outcome] for row in task.rows) for task in tasks]),
        ("time", [_mean("{:.1f} s", task, "seconds") for task in tasks]),
        ("cost", [_mean("${:.4f}", task, "cost_usd") for task in tasks]),
        ("first failure", [_failure(task) for task in tasks]),
    ]
    shown = [[name, *cells] for name, cells in columns if any(cells) or name not in _IF_KNOWN]
    table = render_rows([*zip(*shown, strict=True)])
    return f"{table}\n\n{rate(sample)}; evidence: {sample.evidence}{_by(sample)}"


def rate(sample: Sample) -> str:
    """Return how many of the measured trials passed, and how many were not measured."""
    share = percent(sample.passed, sample.measured)
    errored = f", {sample.errored} errored" if sample.errored else ""
    return f"{sample.passed}/{sample.measured} passed ({share}){errored}"


def _by(sample: Sample) -> str:
    scripted = ", ".join(scripted_among(sample.conditions.models))
    return f"\n{scripted}: {WORDS}" if scripted else ""


def render_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns as wide as their widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _mean(form: str, task: TaskSample, signal: str) -> str:
    """Return the mean over the measured trials; nothing where one of them does not know it."""
    numbers = [getattr(row.signals, signal) for row in task.measured]
    if not numbers or None in numbers:
        return ""
    return form.format(sum(numbers) / len(numbers))


def _failure(task: TaskSample) -> str:
    return shortened(plain(next((row.reason for row in task.rows if row.reason), "")), WIDE)

"""Plain text tables of trials and tasks for stdout."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.core.plain import plain
from evalgate.core.rates import percent
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.scripted import WORDS, scripted_among
from evalgate.core.trial import Outcome

_MARKS = {Outcome.PASSED: "✔", Outcome.FAILED: "✘", Outcome.ERRORED: "!"}


def render_sample(sample: Sample) -> str:
    """Return one line a task and a line in all."""
    rows = [("task", "passed", "trials", "first failure")]
    rows += [_row(task) for task in sample.tasks.values()]
    return f"{render_rows(rows)}\n\n{rate(sample)}; evidence: {sample.evidence}{_by(sample)}"


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


def _row(task: TaskSample) -> tuple[str, str, str, str]:
    marks = "".join(_MARKS[row.outcome] for row in task.rows)
    reason = next((row.reason for row in task.rows if row.reason), "")
    return task.task, f"{task.passed}/{len(task.measured)}", marks, plain(reason)[:90]

"""Plain text tables of trials and tasks for stdout."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.core.sample import Sample, TaskSample
from evalgate.core.trial import Outcome
from evalgate.core.verdict import percent

_MARKS = {Outcome.PASSED: "✔", Outcome.FAILED: "✘", Outcome.ERRORED: "!"}


def render_sample(sample: Sample) -> str:
    """Return one line a task and a line in all."""
    rows = [("task", "passed", "trials", "first failure")]
    rows += [_row(task) for task in sample.tasks.values()]
    measured = [row for task in sample.tasks.values() for row in task.measured]
    passed = sum(task.passed for task in sample.tasks.values())
    total = f"{passed}/{len(measured)} passed ({percent(passed, len(measured))})"
    if sample.errored:
        total += f", {sample.errored} errored"
    return f"{render_rows(rows)}\n\n{total}; evidence: {sample.evidence}"


def render_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns as wide as their widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _row(task: TaskSample) -> tuple[str, str, str, str]:
    marks = "".join(_MARKS[row.outcome] for row in task.rows)
    reason = next((row.reason for row in task.rows if row.reason), "")
    return task.task, f"{task.passed}/{len(task.measured)}", marks, reason[:90]

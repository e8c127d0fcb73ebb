"""A run as one Markdown page: how it stands, task by task, and what failed first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalgate.core.plain import shortened
from evalgate.core.rates import counted, percent
from evalgate.core.sample import TaskSample
from evalgate.core.short_name import short_of
from evalgate.core.trial import MARKS, Outcome, Trial
from evalgate.report.markdown import escape
from evalgate.report.run_report import RunReport

#: So many trials that did not pass are told one by one.
_TOLD = 20
_STRIP = 40


def render_run(report: RunReport) -> str:
    """Return the page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RunReport) -> Iterator[str]:
    sample, overview = report.sample, report.overview()
    totals: Mapping[str, Any] = overview["totals"]  # type: ignore[assignment]
    yield f"## {escape(report.project)}: {escape(report.run)}"
    yield ""
    if report.verdict is not None:
        word = str(report.verdict.get("decision", "")).capitalize()
        yield f"**{escape(word)}.** {escape(report.verdict.get('sentence', ''))}"
        yield ""
    measured = totals["passed"] + totals["failed"]
    errored = f", {totals['errored']} errored" if totals["errored"] else ""
    yield (
        f"**{totals['mean_rate']}** passed ({totals['passed']}/{measured}{errored}); "
        f"harness {short_of(sample.fingerprint)}, "
        f"model {escape(', '.join(sample.conditions.models) or 'none')}, "
        f"evidence: {sample.evidence}"
    )
    yield ""
    if report.notes:
        yield from (f"- ⚠ {escape(note)}" for note in report.notes)
        yield ""
    yield "| task | | passed | cost | seconds | first failure |"
    yield "|---|---|---:|---:|---:|---|"
    tasks: Any = overview["tasks"]
    for row in tasks:
        yield _task_row(row, sample.tasks[row["task"]])
    yield ""
    yield ", ".join(f"{mark} {outcome}" for outcome, mark in MARKS.items())
    if report.by_tag:
        yield ""
        yield "| tag | tasks | passed |"
        yield "|---|---:|---:|"
        for tag, found in report.by_tag.items():
            passed = sum(task.passed for task in found)
            runs = sum(len(task.measured) for task in found)
            yield f"| {escape(tag)} | {len(found)} | {passed}/{runs} ({percent(passed, runs)}) |"
    wrong = [trial for trial in report.trials if trial.outcome is not Outcome.PASSED]
    if wrong:
        yield ""
        yield f"<details><summary>{counted(len(wrong), 'trial')} did not pass</summary>"
        yield ""
        yield from (_trial_line(trial) for trial in wrong[:_TOLD])
        if len(wrong) > _TOLD:
            yield f"- … and {len(wrong) - _TOLD} more"
        yield ""
        yield "</details>"


def _task_row(row: Mapping[str, Any], task: TaskSample) -> str:
    strip = "".join(MARKS[one.outcome] for one in task.rows[:_STRIP])
    strip += "…" if len(task.rows) > _STRIP else ""
    cost = "unknown" if row["usd"] is None else f"${row['usd']:.4f}"
    seconds = "unknown" if row["seconds"] is None else f"{row['seconds']:.1f}"
    cells = (
        escape(row["task"]),
        strip,
        f"{task.passed}/{len(task.measured)}",
        cost,
        seconds,
        escape(shortened(row["first_failure"], 80)),
    )
    return f"| {' | '.join(cells)} |"


def _trial_line(trial: Trial) -> str:
    checks = ", ".join(
        escape(check.name) for check in trial.checks if check.outcome is not Outcome.PASSED
    )
    told = f"; checks: {checks}" if checks else ""
    return (
        f"- {escape(trial.task)} {escape(f'#{trial.key.n}')} **{trial.outcome}**: "
        f"{escape(shortened(trial.reason, 200))}{told}"
    )

"""What the hidden tests say about the files they ran on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalgate.core.redaction import Redactor
from evalgate.core.task import Task
from evalgate.core.testreport import passed_tests
from evalgate.core.trial import Outcome
from evalgate.protocols import Finding, StageStatus
from evalgate.runner.grade_stage import Graded, tests_command
from evalgate.runner.reward import read_reward


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTestsFinding(Finding):
    """A finding of the hidden tests.

    ``unreported`` tells the one trouble that other files show to be the claim's doing only
    by passing: success without the reports of the expected tests.
    """

    unreported: bool = False


def judge_tests(task: Task, graded: Graded, redactor: Redactor) -> HiddenTestsFinding:
    """Judge the hidden tests; errored when nothing can be concluded from how they ended.

    They are judged by what they wrote, and described without the secrets in it.
    """
    command = tests_command(task)
    report = graded.reports.get(command)
    if report is None or report.exit_code is None:
        return _errored(graded.end)
    if not graded.ran(command):
        return _errored(f"tests/test.sh could not run: {_tail(report.output, redactor)}")
    try:
        reward = read_reward(graded.logs, redactor)
    except ValueError as error:
        return _errored(str(error))
    good = report.exit_code == 0 if reward is None else math.isclose(reward, 1.0)
    passed = passed_tests(report.output)
    missing = ", ".join(name for name in task.expected_tests if name not in passed)
    if not good:
        named = f"not passed: {missing}" if missing else _tail(report.output, redactor)
        return HiddenTestsFinding(outcome=Outcome.FAILED, detail=named)
    if missing:
        detail = f"reported success without a report of: {missing}"
        return HiddenTestsFinding(outcome=Outcome.ERRORED, detail=detail, unreported=True)
    return HiddenTestsFinding(outcome=Outcome.PASSED)


def hung(task: Task, graded: Graded) -> bool:
    """Tell whether the hidden tests were still running when the time was up."""
    report = graded.reports.get(tests_command(task))
    return graded.status is StageStatus.TIMEOUT and (report is None or report.exit_code is None)


def _errored(detail: str) -> HiddenTestsFinding:
    return HiddenTestsFinding(outcome=Outcome.ERRORED, detail=detail)


def _tail(output: str, redactor: Redactor) -> str:
    """Return the last line, shortened once no secret is left in it that could be cut."""
    lines = [line for line in redactor.text(output).strip().splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"

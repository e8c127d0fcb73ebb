"""The grade stage: another fresh sandbox with snapshot, claim and hidden tests.

Nothing the agent started is alive any more, and the tests are laid in last, so they win.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

from evalgate.core.claim import Claim
from evalgate.core.files import Tree
from evalgate.core.observation import CommandReport, Observation
from evalgate.core.task import CheckSpec, Task
from evalgate.core.testreport import passed_tests
from evalgate.core.trial import CheckResult, Outcome
from evalgate.protocols import Check, Finding, SandboxProvider, Stage, StageResult, StageStatus

#: The name under which the hidden tests stand among a trial's checks.
HIDDEN_TESTS = "hidden tests"

_TESTS_COMMAND = 'sh "$EVALGATE_TESTS/test.sh"'
_REWARD = "verifier/reward.txt"

# Runs each command by itself and leaves its output and exit code where the host reads them.
_DRIVER = """
i=0
for command in "$@"; do
  sh -c "$command" >"$EVALGATE_LOGS/$i.log" 2>&1 </dev/null
  echo "$?" >"$EVALGATE_LOGS/$i.exit"
  i=$((i + 1))
done
"""


class GradingStoppedError(Exception):
    """The run was interrupted while a trial was being graded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What grading found: every check, and the hidden tests' output."""

    checks: tuple[CheckResult, ...]
    log: str


def grade(
    provider: SandboxProvider,
    task: Task,
    checks: tuple[tuple[CheckSpec, Check], ...],
    claim: Claim,
    stop: threading.Event,
) -> Grade:
    """Grade one claim; what can not be evaluated is errored, never passed or failed."""
    commands = [_TESTS_COMMAND] if task.tests else []
    commands += [check.command for _, check in checks if check.command]
    workspace = claim.applied_to(task.workspace)
    reports, logs, trouble = _run(provider, task, workspace, commands, stop)
    if trouble is StageStatus.TIMEOUT and claim.touched:
        trouble = _whose_time_out(provider, task, commands, stop)
    seen = Observation(task=task, workspace=workspace, claim=claim, commands=reports)
    results = []
    if task.tests:
        finding = _hidden_tests(task, reports.get(_TESTS_COMMAND), logs, trouble)
        results.append(_result(HIDDEN_TESTS, finding, advisory=False))
    for spec, check in checks:
        finding = _examine(check, seen, trouble if check.command else None)
        results.append(_result(spec.name, finding, advisory=spec.advisory))
    output = "\n".join(f"$ {name}\n{report.output}" for name, report in reports.items())
    return Grade(checks=tuple(results), log=output)


def _run(
    provider: SandboxProvider,
    task: Task,
    workspace: Tree,
    commands: list[str],
    stop: threading.Event,
) -> tuple[dict[str, CommandReport], Tree, StageStatus | None]:
    if not commands:
        return {}, {}, None
    with provider.open_sandbox() as sandbox:
        places = sandbox.places
        stage = Stage(
            trees={"repo": workspace, "tests": task.tests},
            argv=["sh", "-c", _DRIVER, "grade", *commands],
            timeout=task.limits.grade_seconds,
            env={"EVALGATE_TESTS": places.tests, "EVALGATE_LOGS": places.logs},
            keep=("logs",),
        )
        result: StageResult = sandbox.run(stage, stop)
    if result.status is StageStatus.INTERRUPTED:
        raise GradingStoppedError
    logs = result.trees.get("logs", {})
    reports = {command: _report(logs, index) for index, command in enumerate(commands)}
    return reports, logs, None if result.status is StageStatus.EXITED else result.status


def _whose_time_out(
    provider: SandboxProvider, task: Task, commands: list[str], stop: threading.Event
) -> StageStatus | None:
    # Tests that hang on the untouched files as well are our fault; tests that end there
    # hang because of what the agent wrote, which is a wrong answer.
    _, _, trouble = _run(provider, task, task.workspace, commands, stop)
    return trouble


def _report(logs: Tree, index: int) -> CommandReport:
    output = logs[f"{index}.log"].data.decode("utf-8", "replace") if f"{index}.log" in logs else ""
    code = logs.get(f"{index}.exit")
    text = code.data.decode("ascii", "replace").strip() if code else ""
    return CommandReport(exit_code=int(text) if text.isdecimal() else None, output=output)


def _hidden_tests(
    task: Task, report: CommandReport | None, logs: Tree, trouble: StageStatus | None
) -> Finding:
    if trouble is not None:
        return _errored(f"the grade stage ended with {trouble}")
    if report is None or report.exit_code is None:
        seconds = task.limits.grade_seconds
        return _failed(f"the tests hang on this claim (over {seconds:g} s)")
    if report.exit_code in {126, 127}:
        return _errored(f"tests/test.sh could not run: {_tail(report.output)}")
    try:
        reward = _reward(logs)
    except ValueError as error:
        return _errored(str(error))
    good = report.exit_code == 0 if reward is None else math.isclose(reward, 1.0)
    passed = passed_tests(report.output)
    missing = [name for name in task.expected_tests if name not in passed]
    if not good:
        named = f"not passed: {', '.join(missing)}" if missing else _tail(report.output)
        return _failed(named)
    if missing:
        return _errored(f"reported success without a report of: {', '.join(missing)}")
    return Finding(outcome=Outcome.PASSED)


def _reward(logs: Tree) -> float | None:
    if _REWARD not in logs:
        return None
    text = logs[_REWARD].data.decode("utf-8", "replace").strip()
    try:
        reward = float(text)
    except ValueError:
        message = f"the reward file holds {text[:40]!r}, which is no number"
        raise ValueError(message) from None
    if not 0.0 <= reward <= 1.0:  # NaN fails this as well
        message = f"the reward {text} lies outside 0 to 1"
        raise ValueError(message)
    return reward


def _examine(check: Check, seen: Observation, trouble: StageStatus | None) -> Finding:
    if trouble is not None:
        return _errored(f"the grade stage ended with {trouble}")
    try:
        return check.examine(seen)
    except Exception as error:  # noqa: BLE001 - whatever a check raises, it did not measure
        return _errored(f"the check raised {error!r}")


def _result(name: str, finding: Finding, *, advisory: bool) -> CheckResult:
    return CheckResult(name=name, outcome=finding.outcome, detail=finding.detail, advisory=advisory)


def _errored(detail: str) -> Finding:
    return Finding(outcome=Outcome.ERRORED, detail=detail)


def _failed(detail: str) -> Finding:
    return Finding(outcome=Outcome.FAILED, detail=detail)


def _tail(output: str) -> str:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"


def overall(checks: tuple[CheckResult, ...]) -> tuple[Outcome, str]:
    """Return the outcome of a graded trial and the reason it is not passed.

    A check that failed decides before one that could not be evaluated.
    """
    deciding = [check for check in checks if not check.advisory]
    for outcome in (Outcome.FAILED, Outcome.ERRORED):
        for check in deciding:
            if check.outcome is outcome:
                return outcome, f"{check.name}: {check.detail}".rstrip(": ")
    return Outcome.PASSED, ""

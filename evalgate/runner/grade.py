"""The grade of a claim: what the hidden tests and the checks say of it.

It is graded in a sandbox of its own (`evalgate.runner.grade_stage`). What could not be measured is
tried once more on files known to be good: a trouble that these do not have is the claim's doing,
and a wrong answer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalgate.core.claim import Claim
from evalgate.core.files import Tree
from evalgate.core.observation import CommandReport, Observation
from evalgate.core.redaction import Redactor
from evalgate.core.task import SOLUTION_SCRIPT, CheckSpec, Task
from evalgate.core.trial import CheckResult, Outcome
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Check, Finding, SandboxProvider, StageStatus
from evalgate.runner.control import Control, Controls
from evalgate.runner.grade_stage import Graded, run_grade_stage, tests_command
from evalgate.runner.hidden_tests import hung, judge_tests
from evalgate.runner.work import words_of_engine

#: The name under which the hidden tests stand among a trial's checks.
HIDDEN_TESTS = "hidden tests"


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
    controls: Controls,
    *,
    redactor: Redactor,
) -> Grade:
    """Grade one claim; what can not be evaluated is errored, never passed or failed.

    ``controls`` keeps what the control of each task came to, so that it is run once. Secrets
    that ``redactor`` finds are in no detail and not in the log; no outcome depends on them.
    TrialStoppedError when the run was interrupted.
    """
    case = _Case(
        provider=provider,
        task=task,
        claim=claim,
        commands=_commands(task, checks),
        stop=stop,
        controls=controls,
        redactor=redactor,
    )
    workspace = claim.applied_to(task.workspace)
    graded = case.graded(workspace)
    # Checks shorten what they show: a secret that was cut could not be found afterwards.
    reports = {name: _cleaned(report, redactor) for name, report in graded.reports.items()}
    seen = Observation(task=task, workspace=workspace, claim=claim, commands=reports)
    results = []
    if task.tests:
        results.append(_result(case, HIDDEN_TESTS, _judged(case, graded), advisory=False))
    for spec, check in checks:
        finding = _examined(case, graded, check, seen)
        results.append(_result(case, spec.name, finding, advisory=spec.advisory))
    output = "\n".join(f"$ {name}\n{report.output}" for name, report in reports.items())
    return Grade(checks=tuple(results), log=redactor.text(output))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One claim to be graded, and the way to its control."""

    provider: SandboxProvider
    task: Task
    claim: Claim
    commands: Sequence[str]
    stop: threading.Event
    controls: Controls
    redactor: Redactor

    def graded(self, workspace: Tree) -> Graded:
        """Run the commands on the claim; files that can not be laid out end no run."""
        try:
            return self._run(workspace)
        except (UsageError, NotAvailableError) as error:
            # A wrong task, a full disk or a missing engine stops the control as well.
            if self.control() is None:
                raise
            return Graded(status=StageStatus.ENGINE, detail=error.message)

    def control(self) -> Control | None:
        """Return the control, or None when it would be this very claim."""
        solved = SOLUTION_SCRIPT in self.task.solution
        if not solved and not self.claim.touched:
            return None
        return self.controls.get(self.task.digest, lambda: self._control(solved=solved))

    def _control(self, *, solved: bool) -> Control:
        graded = self._run(self.task.workspace, solved=solved)
        tests = judge_tests(self.task, graded, self.redactor)
        return Control(graded=graded, tests=tests)

    def _run(self, workspace: Tree, *, solved: bool = False) -> Graded:
        graded = run_grade_stage(
            self.provider, self.task, workspace, self.commands, self.stop, solved=solved
        )
        return replace(graded, detail=words_of_engine(graded.detail, self.redactor))


def _commands(task: Task, checks: tuple[tuple[CheckSpec, Check], ...]) -> list[str]:
    commands = [tests_command(task)] if task.tests else []
    return list(dict.fromkeys([*commands, *(c.command for _, c in checks if c.command)]))


def _judged(case: _Case, graded: Graded) -> Finding:
    finding = judge_tests(case.task, graded, case.redactor)
    if finding.outcome is Outcome.ERRORED and graded.status is not StageStatus.ENGINE:
        control = case.control()
        if control is not None and control.acquits_tests(finding):
            seconds = case.task.limits.grade_seconds
            if hung(case.task, graded):
                return _failed(f"the tests hang on this claim (over {seconds:g} s)")
            return _because_of_the_claim(finding)
    return finding


def _examined(case: _Case, graded: Graded, check: Check, seen: Observation) -> Finding:
    command = check.command
    finding = _examine(check, seen) if _ended(command, seen) else _errored(graded.end)
    if command and finding.outcome is Outcome.ERRORED and not graded.ran(command):
        control = None if graded.status is StageStatus.ENGINE else case.control()
        if control is not None and control.acquits(command):
            return _because_of_the_claim(finding)
    return finding


def _ended(command: str | None, seen: Observation) -> bool:
    if command is None:
        return True
    report = seen.commands.get(command)
    return report is not None and report.exit_code is not None


def _examine(check: Check, seen: Observation) -> Finding:
    try:
        return check.examine(seen)
    except Exception as error:  # noqa: BLE001 - whatever a check raises, it did not measure
        return _errored(f"the check raised {error!r}")


def _cleaned(report: CommandReport, redactor: Redactor) -> CommandReport:
    return replace(report, output=redactor.text(report.output))


def _result(case: _Case, name: str, finding: Finding, *, advisory: bool) -> CheckResult:
    # A detail may name a file whose name is no UTF-8, and a recording holds nothing else.
    detail = case.redactor.text(finding.detail.encode("utf-8", "backslashreplace").decode())
    return CheckResult(name=name, outcome=finding.outcome, detail=detail, advisory=advisory)


def _because_of_the_claim(finding: Finding) -> Finding:
    return _failed(f"because of this claim, {finding.detail}")


def _failed(detail: str) -> Finding:
    return Finding(outcome=Outcome.FAILED, detail=detail)


def _errored(detail: str) -> Finding:
    return Finding(outcome=Outcome.ERRORED, detail=detail)


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

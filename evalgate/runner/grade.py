"""The grade of a claim: what the hidden tests and the checks say of it.

It is graded in a sandbox of its own (`evalgate.runner.grade_stage`). What could not be measured is
tried once more on files known to be good: a trouble that these do not have is the claim's doing,
and a wrong answer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalgate.checks.examine import examined
from evalgate.checks.findings import errored, failed
from evalgate.checks.own import laid_out
from evalgate.core.claim import Claim
from evalgate.core.judging import Judgement
from evalgate.core.observation import Observation
from evalgate.core.redaction import Redactor
from evalgate.core.steering import laid_aside
from evalgate.core.task import SOLUTION_SCRIPT, CheckSpec, Task
from evalgate.core.trajectory import Trajectory
from evalgate.core.trial import CheckResult, Outcome
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Check, Finding, Sandboxes, StageStatus
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
    sandboxes: Sandboxes,
    task: Task,
    checks: tuple[tuple[CheckSpec, Check], ...],
    claim: Claim,
    stop: threading.Event,
    controls: Controls,
    *,
    redactor: Redactor,
    trajectory: Trajectory | None = None,
    judged: Mapping[str, Judgement] | None = None,
) -> Grade:
    """Grade one claim; what can not be evaluated is errored, never passed or failed.

    ``trajectory`` is what the agent did; checks of its conduct need one. ``judged`` is what
    judging models said.
    ``controls`` keeps what the control of each task came to, so that it is run once. Secrets
    that ``redactor`` finds are in no detail and not in the log; no outcome depends on them.
    TrialStoppedError when the run was interrupted.
    """
    case = _Case(
        sandboxes=sandboxes,
        task=task,
        claim=claim,
        aside=laid_aside(task.workspace, claim, task.expected_files),
        commands=commands_of(task, checks),
        stop=stop,
        controls=controls,
        redactor=redactor,
    )
    before = Observation(
        task=task,
        workspace=claim.applied_to(task.workspace),
        claim=claim,
        trajectory=trajectory,
        judged=judged or {},
    )
    graded = case.graded(before)
    seen = case.seen(graded, before)
    results = []
    if task.tests:
        results.append(_result(case, HIDDEN_TESTS, _judged(case, graded), advisory=False))
    for spec, check in checks:
        finding = _examined(case, graded, check, seen)
        results.append(_result(case, spec.name, finding, advisory=spec.advisory))
    output = "\n".join(f"$ {name}\n{report.output}" for name, report in seen.commands.items())
    if case.aside:
        aside = ", ".join(case.aside)
        output = f"not laid out beside the tests, for it would steer them: {aside}\n{output}"
    return Grade(checks=tuple(results), log=redactor.text(output))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One claim to be graded but for what would steer its tests, and the way to its control."""

    sandboxes: Sandboxes
    task: Task
    claim: Claim
    aside: tuple[str, ...]
    commands: Sequence[str]
    stop: threading.Event
    controls: Controls
    redactor: Redactor

    def graded(self, before: Observation) -> Graded:
        """Run the commands on the claim; files that can not be laid out end no run."""
        try:
            return self._run(before)
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

    def seen(self, graded: Graded, before: Observation) -> Observation:
        """Return what checks see, with how the commands ended and what they left."""
        # Checks shorten what they show: a secret that was cut could not be found afterwards.
        reports = {
            name: replace(report, output=self.redactor.text(report.output), raw=report.output)
            for name, report in graded.reports.items()
        }
        return replace(before, commands=reports, logs=graded.logs)

    def acquits(self, check: Check, graded: Graded, control: Control) -> bool:
        """Tell whether a check of a command has not the trouble with files known to be good."""
        command = check.command or ""
        if not graded.ran(command):
            return control.acquits(command)
        found = examined(check, self.seen(control.graded, self._good))
        return found.outcome is Outcome.PASSED

    def _control(self, *, solved: bool) -> Control:
        graded = self._run(self._good, solved=solved)
        tests = judge_tests(self.task, graded, self.redactor)
        return Control(graded=graded, tests=tests)

    @property
    def _good(self) -> Observation:
        return Observation(task=self.task, workspace=self.task.workspace, claim=Claim())

    def _run(self, seen: Observation, *, solved: bool = False) -> Graded:
        graded = run_grade_stage(
            self.sandboxes,
            self.task,
            seen.claim.without(self.aside).applied_to(self.task.workspace),
            self.commands,
            self.stop,
            solved=solved,
            checking=laid_out(self.task, seen),
        )
        return replace(graded, detail=words_of_engine(graded.detail, self.redactor))


def commands_of(task: Task, checks: tuple[tuple[CheckSpec, Check], ...]) -> list[str]:
    """Return the commands of the grade stage, which is not run when there are none."""
    commands = [tests_command(task)] if task.tests else []
    return list(dict.fromkeys([*commands, *(c.command for _, c in checks if c.command)]))


def _judged(case: _Case, graded: Graded) -> Finding:
    finding = judge_tests(case.task, graded, case.redactor)
    if finding.outcome is Outcome.ERRORED and graded.status is not StageStatus.ENGINE:
        control = case.control()
        if control is not None and control.acquits_tests(finding):
            seconds = case.task.limits.grade_seconds
            if hung(case.task, graded):
                return failed(f"the tests hang on this claim (over {seconds:g} s)")
            return _because_of_the_claim(finding)
    return finding


def _examined(case: _Case, graded: Graded, check: Check, seen: Observation) -> Finding:
    finding = examined(check, seen) if _ended(check.command, seen) else errored(graded.end)
    if check.command and finding.outcome is Outcome.ERRORED:
        control = None if graded.status is StageStatus.ENGINE else case.control()
        if control is not None and case.acquits(check, graded, control):
            return _because_of_the_claim(finding)
    return finding


def _ended(command: str | None, seen: Observation) -> bool:
    if command is None:
        return True
    report = seen.commands.get(command)
    return report is not None and report.exit_code is not None


def _result(case: _Case, name: str, finding: Finding, *, advisory: bool) -> CheckResult:
    # A detail may name a file whose name is no UTF-8, and a recording holds nothing else.
    detail = case.redactor.text(finding.detail.encode("utf-8", "backslashreplace").decode())
    return CheckResult(name=name, outcome=finding.outcome, detail=detail, advisory=advisory)


def _because_of_the_claim(finding: Finding) -> Finding:
    return failed(f"because of this claim, {finding.detail}")


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

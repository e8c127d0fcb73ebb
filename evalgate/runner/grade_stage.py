"""One run of the grade stage: files laid out, commands run in them one by one, reports read.

Another fresh sandbox with snapshot, claim and hidden tests: nothing the agent started is alive any
more, and the tests are laid in last, so they win.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.core.files import Tree
from evalgate.core.observation import CommandReport
from evalgate.core.task import SOLUTION_SCRIPT, TEST_SCRIPT, Task
from evalgate.protocols import Sandboxes, Stage, StageResult, StageStatus
from evalgate.runner.reward import ODD
from evalgate.runner.stopped import TrialStoppedError

# Makes the folder where Harbor's tests leave their reward, in which nothing can lie yet.
# Runs each command by itself and leaves its output and exit code where the host reads them. In
# the end it looks whether that folder and the rewards are what they should be: a folder or a pipe
# in the place of a reward, which the host would not see, is no missing reward.
_DRIVER = f"""
mkdir -p "$EVALGATE_LOGS/verifier"
i=0
for command in "$@"; do
  /bin/sh -c "$command" >"$EVALGATE_LOGS/$i.log" 2>&1 </dev/null
  echo "$?" >"$EVALGATE_LOGS/$i.exit"
  i=$((i + 1))
done
cd "$EVALGATE_LOGS"
[ -d verifier ] && [ ! -L verifier ] && [ -w verifier ] || : >{ODD}
for reward in verifier/reward.txt verifier/reward.json; do
  [ -f "$reward" ] || [ ! -e "$reward" ] || : >{ODD}
done
"""
_SOLVING = f'"$EVALGATE_SOLUTION/{SOLUTION_SCRIPT}" >/dev/null 2>&1 </dev/null || exit\n'

_NOT_RUNNABLE = (126, 127)
_LONGEST_CODE = 3


def tests_command(task: Task) -> str:
    """Return the command of the hidden tests."""
    return f'{shell_of(task.tests, TEST_SCRIPT)} "$EVALGATE_TESTS/{TEST_SCRIPT}"'


def shell_of(files: Tree, script: str) -> str:
    """Return the shell that the first line of a script asks for: ``sh``, or ``bash``."""
    first = files[script].data.partition(b"\n")[0] if script in files else b""
    return "bash" if first.startswith(b"#!") and b"bash" in first else "/bin/sh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """How a grade stage ended; ``logs`` is what was written below the place of that name."""

    status: StageStatus = StageStatus.EXITED
    detail: str = ""
    reports: Mapping[str, CommandReport] = field(default_factory=dict)
    logs: Tree = field(default_factory=dict)

    @property
    def end(self) -> str:
        """Say how the stage ended."""
        if self.status is StageStatus.EXITED:
            return "the grade stage ended too early"
        return f"the grade stage ended with {self.status}: {self.detail}".rstrip(": ")

    def ran(self, command: str) -> bool:
        """Tell whether a command could be started and came to its end."""
        report = self.reports.get(command)
        return report is not None and report.exit_code not in {None, *_NOT_RUNNABLE}


def run_grade_stage(
    sandboxes: Sandboxes,
    task: Task,
    workspace: Tree,
    commands: Sequence[str],
    stop: threading.Event,
    *,
    solved: bool = False,
    checking: Tree | None = None,
) -> Graded:
    """Run the commands in a fresh sandbox that holds the workspace and the hidden tests.

    ``checking`` is what is laid out for checks of the project's own.
    With ``solved`` the task's solution is laid over the workspace first. Raises
    TrialStoppedError when interrupted, and whatever the provider says of files that can not
    be laid out.
    """
    if not commands:
        return Graded()
    with sandboxes.open_sandbox() as sandbox:
        places = sandbox.places
        solution = {"EVALGATE_SOLUTION": places.inbox} if solved else {}
        solving = f"{shell_of(task.solution, SOLUTION_SCRIPT)} {_SOLVING}" if solved else ""
        stage = Stage(
            trees={
                "repo": workspace,
                "tests": task.tests,
                **({"harness": checking} if checking else {}),
                **({"inbox": task.solution} if solved else {}),
            },
            argv=["/bin/sh", "-c", solving + _DRIVER, "grade", *commands],
            timeout=task.limits.grade_seconds,
            env={
                "EVALGATE_TESTS": places.tests,
                "EVALGATE_LOGS": places.logs,
                **({"EVALGATE_CHECKS": places.harness} if checking else {}),
                **solution,
            },
            keep=("logs",),
        )
        result: StageResult = sandbox.run(stage, stop)
    if result.status is StageStatus.INTERRUPTED:
        raise TrialStoppedError
    logs = result.trees.get("logs", {})
    return Graded(
        status=result.status,
        detail=result.detail,
        reports={command: _report(logs, index) for index, command in enumerate(commands)},
        logs=logs,
    )


def _report(logs: Tree, index: int) -> CommandReport:
    output = logs[f"{index}.log"].data.decode("utf-8", "replace") if f"{index}.log" in logs else ""
    code = logs.get(f"{index}.exit")
    text = code.data.decode("ascii", "replace").strip() if code else ""
    known = text.isdecimal() and len(text) <= _LONGEST_CODE
    return CommandReport(exit_code=int(text) if known else None, output=output)

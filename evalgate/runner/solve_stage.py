"""The solve stage: a task's own solution run on its files, so that it is a claim like any other."""

from __future__ import annotations

import threading

from evalgate.core.files import Tree
from evalgate.core.task import SOLUTION_SCRIPT, Task
from evalgate.protocols import SandboxProvider, Stage, StageStatus
from evalgate.runner.grade_stage import shell_of
from evalgate.runner.stopped import TrialStoppedError


class UnsolvedError(Exception):
    """The solution could not be run to its end; the message says why."""


def solved_workspace(provider: SandboxProvider, task: Task, stop: threading.Event) -> Tree:
    """Return the files after the solution.

    Raises:
        UnsolvedError: it ended otherwise than with exit code 0.
        TrialStoppedError: interrupted.
    """
    with provider.open_sandbox() as sandbox:
        script = (
            f'{shell_of(task.solution, SOLUTION_SCRIPT)} "$EVALGATE_SOLUTION/{SOLUTION_SCRIPT}"'
        )
        stage = Stage(
            trees={"repo": task.workspace, "inbox": task.solution},
            argv=["/bin/sh", "-c", script],
            env={"EVALGATE_SOLUTION": sandbox.places.inbox},
            timeout=task.limits.grade_seconds,
        )
        result = sandbox.run(stage, stop)
    if result.status is StageStatus.INTERRUPTED:
        raise TrialStoppedError
    if result.status is not StageStatus.EXITED:
        raise UnsolvedError(f"it ended with {result.status}: {result.detail}".rstrip(": "))
    if result.exit_code:
        said = result.log.decode("utf-8", "replace").strip().splitlines()
        last = said[-1] if said else "no output"
        raise UnsolvedError(f"it exited with {result.exit_code}: {last}")
    return result.trees["repo"]

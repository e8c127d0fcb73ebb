"""Every kind of check: its name in a task -> how it is built from its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalgate.checks.command_succeeds import CommandSucceeds
from evalgate.checks.files import FileContains, FileExists, FileUnchanged, OnlyExpectedFiles
from evalgate.core.json import JsonObject
from evalgate.core.schema import Reader, Source
from evalgate.core.task import CheckSpec, Task
from evalgate.errors import UsageError
from evalgate.protocols import Check

CHECKS: Mapping[str, Callable[[Reader], Check]] = {
    "command_succeeds": CommandSucceeds.from_params,
    "file_contains": FileContains.from_params,
    "file_exists": FileExists.from_params,
    "file_unchanged": FileUnchanged.from_params,
    "only_expected_files": OnlyExpectedFiles.from_params,
}


def build_check(spec: CheckSpec, *, task: str) -> Check:
    """Build one check; UsageError names the task and what is wrong with the check."""
    if spec.type not in CHECKS:
        message = f"task {task}: unknown check type {spec.type!r}"
        raise UsageError(message, hint=f"known types: {', '.join(sorted(CHECKS))}")
    params: JsonObject = spec.params
    reader = Reader(params, Source(f"task {task}", ""), ("checks", spec.type))
    check = CHECKS[spec.type](reader)
    reader.done()
    return check


def build_checks(task: Task) -> tuple[tuple[CheckSpec, Check], ...]:
    """Build all checks of a task, in its order."""
    return tuple((spec, build_check(spec, task=task.id)) for spec in task.checks)

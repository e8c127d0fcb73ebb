"""Every kind of check: its name in a task -> how it is built from its parameters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from evalgate.checks.asking import AsksFirst
from evalgate.checks.command_succeeds import CommandSucceeds
from evalgate.checks.commit_message import CommitMessage
from evalgate.checks.diff import DiffAdds, DiffRemoves, DiffSize
from evalgate.checks.files import (
    FileAbsent,
    FileContains,
    FileExists,
    FileUnchanged,
    OnlyExpectedFiles,
)
from evalgate.checks.json_schema import JsonSchema
from evalgate.checks.judge import LlmJudge
from evalgate.checks.output import ExactLabel, ExpectedOutput, NoErrorsInOutput
from evalgate.checks.own import OwnCheck
from evalgate.checks.python_code import (
    NoDuplicatedBlock,
    NoPlaceholderComments,
    PythonCalls,
    PythonDefines,
)
from evalgate.checks.structure import Structure
from evalgate.checks.tests_pass import ReportedTests
from evalgate.checks.tool_calls import (
    ForbiddenTool,
    ToolCallLimit,
    ToolEfficiency,
    ToolOrder,
    ToolsSucceed,
)
from evalgate.core.json import JsonObject
from evalgate.core.models import ModelSpec
from evalgate.core.own_name import is_own_name
from evalgate.core.schema import Reader, Source
from evalgate.core.task import CheckSpec, Task
from evalgate.errors import UsageError
from evalgate.protocols import Check


class Kind(Protocol):
    """A kind of check: its class, whose docstring says what passes and gives an example."""

    def from_params(self, params: Reader, /) -> Check:
        """Build one; UsageError names the parameter that is wrong."""
        ...


#: What an agent left: files, their difference, and how commands fare with them.
OF_CLAIM: Mapping[str, Kind] = {
    "command_succeeds": CommandSucceeds,
    "diff_adds": DiffAdds,
    "diff_removes": DiffRemoves,
    "diff_size": DiffSize,
    "file_absent": FileAbsent,
    "file_contains": FileContains,
    "file_exists": FileExists,
    "file_unchanged": FileUnchanged,
    "no_duplicated_block": NoDuplicatedBlock,
    "no_placeholder_comments": NoPlaceholderComments,
    "only_expected_files": OnlyExpectedFiles,
    "python_calls": PythonCalls,
    "python_defines": PythonDefines,
    "structure": Structure,
    "tests_pass": ReportedTests,
}

#: A text: the output of a command, a file or, without either, the agent's answer.
OF_TEXT: Mapping[str, Kind] = {
    "commit_message": CommitMessage,
    "exact_label": ExactLabel,
    "expected_output": ExpectedOutput,
    "json_schema": JsonSchema,
    "no_errors_in_output": NoErrorsInOutput,
}

#: The same text, of which a model is asked what it makes of it.
OF_MODEL: Mapping[str, Kind] = {"llm_judge": LlmJudge}

#: What an agent did on its way: nothing of it can be told of a solution.
OF_CONDUCT: Mapping[str, Kind] = {
    "asks_first": AsksFirst,
    "forbidden_tool": ForbiddenTool,
    "tool_call_limit": ToolCallLimit,
    "tool_efficiency": ToolEfficiency,
    "tool_order": ToolOrder,
    "tools_succeed": ToolsSucceed,
}

_OF_CLAIM: Final = frozenset({"path", "command"})

CHECKS: Mapping[str, Kind] = {**OF_CLAIM, **OF_TEXT, **OF_MODEL, **OF_CONDUCT}


def asks_model(spec: CheckSpec) -> bool:
    """Tell whether a check asks a model, so that it is an opinion and costs money."""
    return spec.type in OF_MODEL


def needs_agent(spec: CheckSpec) -> bool:
    """Tell whether a check looks at what an agent did, or asks a model: no solution has that."""
    unsaid = spec.type == "commit_message" and not _OF_CLAIM & set(spec.params)
    return spec.type in OF_CONDUCT or asks_model(spec) or unsaid


def needs_answer(spec: CheckSpec) -> bool:
    """Tell whether a check looks at what an agent said last."""
    return spec.type in OF_TEXT and not needs_agent(spec) and not _OF_CLAIM & set(spec.params)


def build_check(
    spec: CheckSpec, *, task: str, models: Mapping[str, ModelSpec] | None = None
) -> Check:
    """Build one check; UsageError names the task and what is wrong with the check.

    ``models`` are the project's by their names, None where no judge is asked.
    """
    params: JsonObject = spec.params
    reader = Reader(params, Source(f"task {task}", ""), ("checks", spec.type))
    if ":" in spec.type:
        return OwnCheck.from_params(spec.type, reader)
    if spec.type not in CHECKS:
        message = f"task {task}: unknown check type {spec.type[:80]!r}"
        raise UsageError(message, hint=_known(spec.type))
    check = CHECKS[spec.type].from_params(reader)
    reader.done()
    if not isinstance(check, LlmJudge):
        return check
    if not spec.advisory:
        check.require_calibrated(task=task)
    return check if models is None else check.served_by(models, task=task)


def _known(kind: str) -> str:
    """Say which types there are, first the one that was probably meant."""
    near = difflib.get_close_matches(kind, [*CHECKS], n=1)
    module, _, function = kind.rpartition(".")
    own = f"{module}:{function}"
    near = near or ([own] if is_own_name(own) else [])
    meant = f"did you mean {near[0]!r}? " if near else ""
    known = ", ".join(sorted(CHECKS))
    return f"{meant}known types: {known}, or package.module:function of your own"


def build_judges(task: Task, models: Mapping[str, ModelSpec]) -> tuple[LlmJudge, ...]:
    """Build a task's judges where they are served, in its order; they need not be calibrated."""
    specs = [replace(spec, advisory=True) for spec in task.checks if spec.type == "llm_judge"]
    checks = (build_check(spec, task=task.id, models=models) for spec in specs)
    return tuple(check for check in checks if isinstance(check, LlmJudge))


def build_checks(
    task: Task, models: Mapping[str, ModelSpec] | None = None
) -> tuple[tuple[CheckSpec, Check], ...]:
    """Build all checks of a task, in its order; ``models`` as in `build_check`."""
    return tuple((spec, build_check(spec, task=task.id, models=models)) for spec in task.checks)

"""`evalgate task show`: what a task asks for, holds, allows and is graded by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from evalgate.commands.answer import Answer
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tasks.selection import select_folders
from evalgate.core.files import Tree
from evalgate.core.json import Json
from evalgate.core.task import CheckSpec, Task
from evalgate.tasks.suite import Folder

_FILES = 20


def show_tasks(project: Project, patterns: Sequence[str], rev: str | None) -> Answer:
    """Show the tasks that patterns mean, one after another.

    Raises:
        NothingRanError: a pattern matches none.
        UsageError: a task can not be read.
    """
    with open_state(project, subject_of(rev)) as state:
        folders = select_folders(state, patterns)
    shown: list[str] = []
    values: list[Json] = []
    for folder in folders:
        if folder.error is not None:
            raise folder.error
        if folder.task is not None:
            shown.append(_text(folder, folder.task))
            values.append(_json(folder, folder.task))
    return Answer(text="\n\n".join(shown), value={"tasks": values})


def _text(folder: Folder, task: Task) -> str:
    limits = ", ".join(
        f"{name} {value:g}" for name, value in asdict(task.limits).items() if value is not None
    )
    lines = [
        f"{task.id}  ({folder.path}, {task.digest[:12]})",
        *([f"tags      {', '.join(task.tags)}"] if task.tags else []),
        f"limits    {limits}",
        *([f"needs     {task.environment.needs}"] if task.environment.needs else []),
        f"begins    {_named(task.workspace)}",
        *([f"expected  {', '.join(task.expected_files)}"] if task.expected_files else []),
        *([f"tests     {_named(task.tests)}"] if task.tests else []),
        *(f"          {name}" for name in task.expected_tests),
        *(f"check     {_check(check)}" for check in task.checks),
        f"solution  {_named(task.solution)}",
        "",
        *(f"    {line}".rstrip() for line in task.instruction.strip().splitlines()),
    ]
    return "\n".join(lines)


def _named(files: Tree) -> str:
    names = sorted(files)
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    return ", ".join(names[:_FILES]) + more if names else "none"


def _check(check: CheckSpec) -> str:
    params = ", ".join(f"{key} = {value!r}" for key, value in check.params.items())
    advisory = "  (advisory)" if check.advisory else ""
    return f"{check.type}  {params}{advisory}".rstrip()


def _json(folder: Folder, task: Task) -> dict[str, Json]:
    checks: list[Json] = [
        {"type": one.type, "params": dict(one.params), "advisory": one.advisory}
        for one in task.checks
    ]
    return {
        "id": task.id,
        "folder": folder.path,
        "format": folder.format or "harbor",
        "digest": task.digest,
        "instruction": task.instruction,
        "tags": [*task.tags],
        "limits": asdict(task.limits),
        "needs": task.environment.needs,
        "workspace": [*sorted(task.workspace)],
        "tests": [*sorted(task.tests)],
        "solution": [*sorted(task.solution)],
        "expected_files": [*task.expected_files],
        "expected_tests": [*task.expected_tests],
        "checks": checks,
    }

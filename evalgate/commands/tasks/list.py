"""`evalgate task list`: the suite, a line a task."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.commands.answer import Answer
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tables import render_rows
from evalgate.commands.tasks.selection import select_folders
from evalgate.core.json import Json
from evalgate.core.task import Task
from evalgate.errors import ExitCode
from evalgate.tasks.suite import Folder

_HEAD = ("task", "tags", "graded by", "turns", "agent", "grading", "folder")


def list_tasks(project: Project, patterns: Sequence[str], rev: str | None) -> Answer:
    """List the tasks of a state; what can not be read is named, and ends with exit 2.

    Raises:
        NothingRanError: a pattern matches none, or there is no task.
    """
    with open_state(project, subject_of(rev)) as state:
        folders = select_folders(state, patterns)
    found = [(folder, folder.task) for folder in folders if folder.task is not None]
    problems = [folder.error.message for folder in folders if folder.error is not None]
    lines = [render_rows([_HEAD, *(_row(folder, task) for folder, task in found)])] if found else []
    lines += [f"can not be read: {problem}" for problem in problems]
    value: dict[str, Json] = {
        "tasks": [_json(folder, task) for folder, task in found],
        "unreadable": [*problems],
    }
    code = ExitCode.USAGE if problems else ExitCode.OK
    return Answer(text="\n".join(lines), value=value, code=code)


def grading_of(task: Task) -> list[str]:
    """Return what decides on a task's trials: its tests, and each kind of check that does."""
    kinds = dict.fromkeys(check.type for check in task.checks if not check.advisory)
    return [*(["tests"] if task.tests else []), *kinds]


def _row(folder: Folder, task: Task) -> tuple[str, ...]:
    limits = task.limits
    return (
        task.id,
        ", ".join(task.tags),
        ", ".join(grading_of(task)),
        str(limits.max_turns),
        f"{limits.agent_seconds:g} s",
        f"{limits.grade_seconds:g} s",
        folder.path,
    )


def _json(folder: Folder, task: Task) -> dict[str, Json]:
    return {
        "id": task.id,
        "folder": folder.path,
        "format": folder.format or "harbor",
        "tags": [*task.tags],
        "graded_by": [*grading_of(task)],
        "digest": task.digest,
    }

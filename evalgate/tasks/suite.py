"""A suite: every task folder among some files, ids unique, in order of id."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from evalgate.core.files import Tree, subtree
from evalgate.core.identity import folded
from evalgate.core.limits import Allowance
from evalgate.core.task import Task
from evalgate.errors import NothingRanError, UsageError
from evalgate.tasks.harbor import load_harbor_task, name_of

_MARK = "task.toml"


def load_suite(
    files: Tree, limits: Allowance | None = None, *, only: Sequence[str] = ()
) -> tuple[Task, ...]:
    """Read every folder that holds a ``task.toml``; an id used twice names both folders.

    ``limits`` are the project's, for tasks that say nothing else. Where ``only`` names tasks by
    globs, one that can not be read and is not among them is left out.
    """
    tasks: dict[str, tuple[str, Task]] = {}
    for folder in _folders(files):
        own = subtree(files, folder)
        try:
            task = load_harbor_task(folder, own, limits or Allowance())
        except UsageError:
            if not only or any(fnmatch.fnmatchcase(name_of(folder, own), glob) for glob in only):
                raise
            continue
        key = folded(task.id)
        if key in tasks:
            other = tasks[key][0]
            message = f"the task id {task.id!r} is used by {other} and by {folder}"
            raise UsageError(message, hint="give one of them another [task] name")
        tasks[key] = (folder, task)
    return tuple(sorted((task for _, task in tasks.values()), key=lambda task: task.id))


def select(tasks: Sequence[Task], patterns: Iterable[str]) -> tuple[Task, ...]:
    """Return the tasks whose id matches one of the globs; no glob selects all of them.

    Raises NothingRanError when there is no task, or a glob matches none.
    """
    if not tasks:
        message = "the suite holds no task"
        raise NothingRanError(message, hint="[suite] tasks names folders with a task.toml")
    wanted = tuple(patterns)
    for pattern in wanted:
        if not any(fnmatch.fnmatchcase(task.id, pattern) for task in tasks):
            message = f"no task matches {pattern!r}"
            raise NothingRanError(message, hint=f"tasks: {', '.join(t.id for t in tasks)}")
    if not wanted:
        return tuple(tasks)
    return tuple(t for t in tasks if any(fnmatch.fnmatchcase(t.id, p) for p in wanted))


def _folders(files: Tree) -> list[str]:
    marks = [path for path in files if path.endswith(f"/{_MARK}")]
    folders = sorted(path.removesuffix(f"/{_MARK}") for path in marks)
    # A task.toml inside another task's workspace is that task's own business.
    return [f for f in folders if not any(f.startswith(f"{other}/") for other in folders)]

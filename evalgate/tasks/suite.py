"""A suite: every task among some files, ids unique, in order of id."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalgate.core.files import Tree, subtree
from evalgate.core.identity import folded, storage_key
from evalgate.core.limits import Allowance
from evalgate.core.task import Task
from evalgate.errors import NothingRanError, UsageError
from evalgate.tasks.harbor import load_harbor_task, name_of
from evalgate.tasks.marks import CRITERIA, IN_PLACE
from evalgate.tasks.own_checks import with_own_checks

_MARK = "task.toml"
_TAG = "tag:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of a task, or a file that is one; and the task, or why it can not be read.

    ``files`` are its own, ``made`` the same as a folder of ours, which they are where ``format``
    is empty. ``defaults`` are the project's limits, for what the task says nothing about.
    """

    path: str
    files: Tree
    made: Tree
    defaults: Allowance
    format: str = ""
    task: Task | None = None
    error: UsageError | None = None

    @property
    def id(self) -> str:
        """The task's id, as far as one can be read: else the folder's name."""
        return name_of(self.path, self.made) if self.task is None else self.task.id

    def wanted(self, patterns: Sequence[str]) -> bool:
        """Tell whether patterns may mean it; what can not be read may have any tag."""
        if self.task is not None:
            return not patterns or any(_matches(self.task, one) for one in patterns)
        named = any(fnmatch.fnmatchcase(self.id, one) for one in patterns)
        return not patterns or named or any(one.startswith(_TAG) for one in patterns)


def read_folders(files: Tree, limits: Allowance | None = None) -> tuple[Folder, ...]:
    """Read every task there is, of whatever format, in order of path; nothing is raised."""
    return tuple(
        _with_own_checks(folder, files)
        for path, own in _places(files)
        for folder in _read(path, own, limits or Allowance())
    )


def load_suite(
    files: Tree, limits: Allowance | None = None, *, only: Sequence[str] = ()
) -> tuple[Task, ...]:
    """Read every task; an id used twice names both folders.

    ``limits`` are the project's, for tasks that say nothing else. Where ``only`` names tasks by
    patterns, one that can not be read and is not among them is left out.
    """
    tasks: dict[str, tuple[str, Task]] = {}
    keys: dict[str, str] = {}
    for folder in read_folders(files, limits):
        if folder.task is None:
            if folder.error is not None and folder.wanted(only):
                raise folder.error
            continue
        task, key = folder.task, folded(folder.task.id)
        if key in tasks:
            other = tasks[key][0]
            message = f"the task id {task.id!r} is used by {other} and by {folder.path}"
            raise UsageError(message, hint="give one of them another [task] name")
        tasks[key] = (folder.path, task)
        first = keys.setdefault(storage_key(task.id), task.id)
        if first != task.id:  # one in four thousand million, and found by who looks for it
            message = f"the task ids {first!r} and {task.id!r} have one name on disk"
            raise UsageError(message, hint="give one of them another [task] name")
    return tuple(sorted((task for _, task in tasks.values()), key=lambda task: task.id))


def select(tasks: Sequence[Task], patterns: Iterable[str]) -> tuple[Task, ...]:
    """Return the tasks that one of the patterns means; no pattern selects all of them.

    A pattern is a glob of ids, or ``tag:`` and a glob of tags. Raises NothingRanError when there
    is no task, or a pattern matches none.
    """
    if not tasks:
        message = "the suite holds no task"
        raise NothingRanError(
            message,
            hint="[suite] tasks names their folders; evalgate task import takes other formats",
        )
    wanted = tuple(patterns)
    for pattern in wanted:
        if not any(_matches(task, pattern) for task in tasks):
            message = f"no task matches {pattern!r}"
            raise NothingRanError(message, hint=_known(tasks, pattern))
    if not wanted:
        return tuple(tasks)
    return tuple(task for task in tasks if any(_matches(task, one) for one in wanted))


def _matches(task: Task, pattern: str) -> bool:
    if task.id == pattern or fnmatch.fnmatchcase(task.id, pattern):  # an id may hold brackets
        return True
    tag = pattern.removeprefix(_TAG)
    return tag != pattern and any(fnmatch.fnmatchcase(one, tag) for one in task.tags)


def _known(tasks: Sequence[Task], pattern: str) -> str:
    if pattern.startswith(_TAG):
        tags = sorted({tag for task in tasks for tag in task.tags})
        return f"tags: {', '.join(tags) or 'none'}"
    return f"tasks: {', '.join(task.id for task in tasks)}"


def _format_of(files: Tree) -> str:
    from evalgate.tasks.formats import format_of  # noqa: PLC0415 - YAML and tar take their time

    return format_of(files)


def _read(path: str, files: Tree, limits: Allowance) -> list[Folder]:
    if _MARK in files:
        return [_load(path, files, limits, made=files)]
    from evalgate.tasks.formats import read_drafts  # noqa: PLC0415 - as above

    name = _format_of(files)
    parent = path if path not in files else ""
    try:
        drafts = read_drafts(name, parent, files)
    except UsageError as error:
        broken = Folder(path=path, files=files, made={}, defaults=limits, format=name, error=error)
        return [broken]
    return [_load(path, files, limits, made=one.folder(), format_name=name) for one in drafts]


def _with_own_checks(folder: Folder, files: Tree) -> Folder:
    if folder.task is None:
        return folder
    try:
        return replace(folder, task=with_own_checks(folder.task, folder.path, files))
    except UsageError as error:
        return replace(folder, task=None, error=error)


def _load(
    path: str, files: Tree, limits: Allowance, *, made: Tree, format_name: str = ""
) -> Folder:
    task = error = None
    try:
        task = load_harbor_task(path, made, limits)
    except UsageError as found:
        error = found
        if format_name:  # of a file that nobody wrote, so its name and line say nothing
            message = f"{path}: as a folder of ours it is not sound: {found.message}"
            error = UsageError(message, hint=found.hint)
    return Folder(
        path=path,
        files=files,
        made=made,
        defaults=limits,
        format=format_name,
        task=task,
        error=error,
    )


def _places(files: Tree) -> list[tuple[str, Tree]]:
    """Return the path and the files of every task: outermost ones, what they hold is theirs."""
    ours = {name.removesuffix(f"/{_MARK}") for name in files if name.endswith(f"/{_MARK}")}
    found: dict[str, Tree] = {folder: {} for folder in ours}
    for mark in IN_PLACE.values():
        for name in files:
            folder = name.removesuffix(f"/{mark}")
            if folder not in (name, *found) and _format_of(subtree(files, folder)):
                found[folder] = {}
    for name, file in files.items():
        lone = name.endswith(".json") and "/" in name and CRITERIA in file.data
        if lone and _format_of({name: file}):
            found[name] = {name: file}
    outer = _outermost(found)
    return [(path, found[path] or subtree(files, path)) for path in outer]


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths, key=lambda one: one.split("/")):
        if not kept or not path.startswith(f"{kept[-1]}/"):
            kept.append(path)
    return kept

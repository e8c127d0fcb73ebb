"""Rules about what ``task.toml`` and ``instruction.md`` say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evalgate.checks.table import build_check
from evalgate.commands.tasks.rules.problem import Problem, at_key, told
from evalgate.errors import UsageError
from evalgate.tasks.suite import Folder

#: Where the limits stand that every task needs.
_LIMITS: Final = (
    ("agent", "timeout_sec"),
    ("verifier", "timeout_sec"),
    ("metadata", "evalgate", "max_turns"),
)
#: Where a format has no word for it.
_OTHERS: Final = "evalgate task import makes a folder that says it; [limits] says turns for all"


def unreadable(folders: Sequence[Folder]) -> Iterator[Problem]:
    """What can not be read is not run."""
    for folder in folders:
        if folder.error is not None:
            yield told(folder.error.message, folder.path, hint=folder.error.hint)


def wrong_checks(folders: Sequence[Folder]) -> Iterator[Problem]:
    """A check of an unknown kind, or with parameters that it does not take."""
    for folder in folders:
        for spec in () if folder.task is None else folder.task.checks:
            try:
                build_check(spec, task=folder.id)
            except UsageError as error:
                file, line = at_key(folder, "metadata", "evalgate", "checks")
                yield Problem(file=file, line=line, words=error.message, hint=error.hint)


def no_limits(folders: Sequence[Folder]) -> Iterator[Problem]:
    """A limit that is nowhere said is a default, which changes with the version."""
    for folder in folders:
        if folder.task is None:
            continue
        table = tomllib.loads(folder.made["task.toml"].data.decode().replace("\r\n", "\n"))
        for key in _LIMITS:
            for_all = key[-1] == "max_turns" and folder.defaults.turns is not None
            if not for_all and not _has(table, key):
                file, line = at_key(folder, *key[:-1])
                hint = _OTHERS if folder.format else ""
                words = f"{'.'.join(key)} is not said"
                yield Problem(file=file, line=line, words=words, hint=hint)


def unknown_paths(folders: Sequence[Folder]) -> Iterator[Problem]:
    """A file that is spoken of and is not there, often because of a wrong name."""
    for folder in folders:
        task = folder.task
        if task is None or task.environment.has_image or task.environment.set_up.commands:
            continue
        for path in task.expected_files if task.solution else ():
            if path not in task.workspace and path not in task.solution:
                file, line = at_key(folder, "metadata", "evalgate", "expected_files")
                words = f"{path!r} is neither in the workspace nor in the solution"
                yield Problem(file=file, line=line, words=words)
        for spec in task.checks:
            kept = spec.params.get("path")
            if spec.type == "file_unchanged" and kept not in task.workspace:
                file, line = at_key(folder, "metadata", "evalgate", "checks")
                words = f"{kept!r} can not stay as it is: it is not in the workspace"
                yield Problem(file=file, line=line, words=words)


def empty_instructions(folders: Sequence[Folder]) -> Iterator[Problem]:
    """An agent that is asked for nothing."""
    for folder in folders:
        if folder.task is not None and not folder.task.instruction.strip():
            yield Problem(file=f"{folder.path}/instruction.md", words="asks for nothing")


def _has(table: Mapping[str, Any], key: Sequence[str]) -> bool:
    for part in key[:-1]:
        table = table.get(part, {})
    return key[-1] in table

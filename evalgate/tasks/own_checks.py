"""Checks of a project's own: their code is found beside the tasks, and is part of each that asks.

A check of type ``checks.tone:polite`` is the function ``polite`` in ``checks/tone.py``, one of
``checks:polite`` that in ``checks.py``, in the folder that the task's own folder lies in. It is
run in the grade stage alone (see `evalgate.checks.own`), never here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from evalgate.core.files import FileMode, Tree, tree_digest
from evalgate.core.identity import digest
from evalgate.core.own_name import is_own_name
from evalgate.core.task import Task
from evalgate.errors import UsageError

_NAMED: Final = re.compile(r"""\btype["']?\s*=\s*["']([^\W\d]\w*)[\w.]*:""")


def code_places(files: Tree) -> tuple[str, ...]:
    """Return where the code may lie that tasks among some files name, each a path without .py.

    No task is read for it, so one that can not be read is none the worse.
    """
    return tuple(
        sorted(
            f"{'/'.join(path.split('/')[:-2])}/{top}".lstrip("/")
            for path, file in files.items()
            if path.endswith("/task.toml")
            for top in set(_NAMED.findall(file.data.decode("utf-8", "replace")))
        )
    )


def with_own_checks(task: Task, folder: str, files: Tree) -> Task:
    """Return a task with the code of its own checks, which its digest then covers.

    All files of the packages and modules named are taken. UsageError when one is not there; a type
    that names none is left to who builds checks.
    """
    modules = {spec.type.partition(":")[0] for spec in task.checks if is_own_name(spec.type)}
    if not modules:
        return task
    above = f"{folder.rpartition('/')[0]}/".lstrip("/")
    found = {
        path.removeprefix(above): file for path, file in files.items() if path.startswith(above)
    }
    for module in sorted(modules):
        path = f"{module.replace('.', '/')}.py"
        if path not in found or found[path].mode is FileMode.SYMLINK:
            message = f"task {task.id}: checks: {above}{path} is no file beside the tasks"
            raise UsageError(message, hint="a check package.module:name is a function in that file")
    tops = {module.partition(".")[0] for module in modules}
    code = {
        path: file
        for path, file in found.items()
        if path.partition("/")[0].removesuffix(".py") in tops
    }
    named = {"task": task.digest, "checks": tree_digest(code, domain="evalgate-own-checks/1")}
    whole = digest(named, domain="evalgate-task-with-checks/1")
    return replace(task, own_checks=code, digest=whole)

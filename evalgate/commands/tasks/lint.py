"""`evalgate task lint`: the tasks held to named rules, file and line of what breaks one."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.commands.answer import Answer
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tasks.rules.problem import Problem
from evalgate.commands.tasks.rules.table import RULES, Rule
from evalgate.commands.tasks.selection import select_folders
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.errors import ExitCode
from evalgate.tasks.suite import Folder


def lint_tasks(project: Project, patterns: Sequence[str], rev: str | None) -> Answer:
    """Hold tasks to every rule; exit 2 where one is broken.

    Raises:
        NothingRanError: a pattern matches none, or there is no task.
    """
    with open_state(project, subject_of(rev)) as state:
        wanted = select_folders(state, patterns)
        found = [
            (rule, problem)
            for rule, problem in broken(state.folders)
            if any(f"{problem.file}/".startswith(f"{one.path}/") for one in wanted)
        ]
    value: dict[str, Json] = {
        "tasks": len(wanted),
        "problems": [
            {**problem.to_json(rule.name), "hint": problem.hint or rule.hint}
            for rule, problem in found
        ],
    }
    code = ExitCode.USAGE if found else ExitCode.OK
    return Answer(text=_text(found, len(wanted)), value=value, code=code)


def broken(folders: Sequence[Folder]) -> list[tuple[Rule, Problem]]:
    """Return what breaks a rule, in the order of its place."""
    found = [(rule, problem) for rule in RULES for problem in rule.look(folders)]
    return sorted(found, key=lambda one: (one[1].file, one[1].line))


def _text(found: Sequence[tuple[Rule, Problem]], count: int) -> str:
    lines = []
    for rule, problem in found:
        lines.append(f"{problem.place}: {rule.name}: {problem.words}")
        lines.append(f"    {problem.hint or rule.hint}")
    tasks = counted(count, "task")
    ends = (
        f"{counted(len(found), 'problem')} in {tasks}"
        if found
        else f"nothing is wrong with {tasks}"
    )
    return "\n".join([*lines, ends])

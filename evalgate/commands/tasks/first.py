"""The first tasks of a project: mined from its history, proven, and what a run would come to."""

from __future__ import annotations

from evalgate.commands.answer import Answer
from evalgate.commands.console import Console
from evalgate.commands.making.estimate import estimate
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tasks.mine import MineOptions, mine
from evalgate.core.json import Json
from evalgate.errors import NothingRanError


def first_tasks(project: Project, most: int, console: Console) -> Answer:
    """Mine up to so many tasks; a history without a candidate is told, and no error.

    Raises:
        NotAvailableError: there is no sandbox to prove them in.
    """
    value: dict[str, Json] = {"mined": None}
    try:
        mined = mine(project, MineOptions(most=most), console)
    except NothingRanError as error:
        lines = [f"no task was mined: {error.message}", error.hint]
    else:
        lines, value["mined"] = [mined.text], mined.value
    with open_state(project, subject_of(None)) as state:
        tasks, trials = state.tasks, state.config.trials
        calls = trials * sum(task.limits.max_turns for task in tasks)
        cost = estimate(state, state.harness, tasks, trials * len(tasks))
    value |= {"estimate": cost, "most_calls": calls}
    lines.append(f"{cost}; at most {calls} model calls by the tasks' own limits")
    return Answer(text="\n".join(lines), value=value)

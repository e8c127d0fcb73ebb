"""What the work tree says beside a run that is told: tasks, baselines, and where recordings lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.core.baseline import Baseline
from evalgate.core.task import Task
from evalgate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Tasks by name, baselines, and where recordings lie; ``notes`` say what can not be read."""

    tasks: Mapping[str, Task]
    baselines: tuple[Baseline, ...] = ()
    shelf: Path | None = None
    notes: tuple[str, ...] = ()


def here_of(project: Project) -> Here:
    """Return what the work tree says; nothing of it where it can not be read."""
    try:
        with open_state(project, WORKTREE) as state:
            return Here(
                tasks={task.id: task for task in state.tasks},
                baselines=state.baselines(),
                shelf=state.shelf.folder,
            )
    except UsageError as error:
        note = f"tags, baselines and recordings of the work tree are left out: {error.message}"
        return Here(tasks={}, notes=(note,))

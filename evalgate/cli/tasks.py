"""The part of the command line that is about tasks: declare, call, exit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    answered,
    cli,
    console_of,
    pass_globals,
    project_of,
    rev_option,
    tasks_argument,
    usd_option,
)


@cli.group()
def task() -> None:
    """Looks at the tasks, holds them to rules, and makes new ones."""


@task.command("list")
@tasks_argument
@rev_option
@pass_globals
def task_list(options: Globals, tasks: tuple[str, ...], rev: str | None) -> int:
    """List TASKS, globs of ids or tag:NAME, all of them by default; exit 5 where one is none."""
    from evalgate.commands.tasks.list import list_tasks

    return answered(options, list_tasks(project_of(options), tasks, rev))


@task.command("show")
@click.argument("tasks", nargs=-1, required=True)
@rev_option
@pass_globals
def task_show(options: Globals, tasks: tuple[str, ...], rev: str | None) -> int:
    """Show what TASKS ask for, hold, allow and are graded by."""
    from evalgate.commands.tasks.show import show_tasks

    return answered(options, show_tasks(project_of(options), tasks, rev))


@task.command("lint")
@tasks_argument
@rev_option
@pass_globals
def task_lint(options: Globals, tasks: tuple[str, ...], rev: str | None) -> int:
    """Hold TASKS (all by default) to named rules, with file and line; exit 2 on a problem."""
    from evalgate.commands.tasks.lint import lint_tasks

    return answered(options, lint_tasks(project_of(options), tasks, rev))


@task.command("import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--into", metavar="FOLDER", help="Where folders go; else where the suite's are.")
@click.option("--format", "format_name", default="", help="Where it is not plain.")
@click.option(
    "--repo", type=click.Path(path_type=Path), help="A clone that SWE-bench instances begin in."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@pass_globals
def task_import(options: Globals, /, sources: tuple[Path, ...], **asked: Any) -> int:
    """Write folders of ours from tasks of other formats; nothing is overwritten.

    terminal-bench, snapshot, criteria (JSON), swe-bench or golden (a Python list, never run).
    """
    from evalgate.commands.tasks.importing import ImportOptions, import_tasks

    places = [options.directory / source for source in sources]
    return answered(
        options, import_tasks(project_of(options), ImportOptions(sources=places, **asked))
    )


@task.command("calibrate-judge")
@click.argument("task", metavar="TASK")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--judge", "number", default=1, show_default=True, help="Which of its judges.")
@usd_option
@rev_option
@pass_globals
def task_calibrate_judge(
    options: Globals, task: str, labels: Path, number: int, max_usd: float | None, rev: str | None
) -> int:
    """Hold the judge of TASK against LABELS: how often it is right about good and bad texts.

    A line of LABELS is {"text": "…", "passed": true}. The judge is asked live; exit 1 where it
    may not decide, 4 where a text could not be judged.
    """
    from evalgate.commands.tasks.calibrating import calibrate_judge

    answer = calibrate_judge(
        project_of(options),
        task,
        options.directory / labels,
        os.environ,
        console_of(options),
        rev=rev,
        number=number,
        usd=max_usd,
    )
    return answered(options, answer)

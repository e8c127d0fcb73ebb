"""The commands that prove tasks and make them of what has happened: declare, call, exit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    answered,
    at_terminal,
    console_of,
    pass_globals,
    project_of,
    rev_option,
    tasks_argument,
)
from evalgate.cli.tasks import task

_sandbox = click.option("--sandbox", help="The sandbox; default: the configuration's.")
_times = click.option(
    "-k", "times", type=click.IntRange(1, 50), default=3, show_default=True, help="Tries of each."
)
_at_once = click.option("-j", "workers", type=click.IntRange(1), help="Tasks at once.")


@task.command("verify")
@tasks_argument
@_times
@click.option(
    "--mutants",
    type=click.IntRange(0, 100),
    default=8,
    show_default=True,
    help="Slips put into each solution, to see whether tests find them.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 on notes and an unhealthy suite, too.")
@_sandbox
@_at_once
@rev_option
@pass_globals
def task_verify(options: Globals, /, **asked: Any) -> int:
    """Prove TASKS: doing nothing fails, the solution passes, nothing gives them away.

    Exit 1 where one is not proven, 4 where one could not be tried to its end.
    """
    from evalgate.commands.tasks.verify import VerifyOptions, verify_tasks

    found = verify_tasks(project_of(options), VerifyOptions(**asked), console_of(options))
    return answered(options, found)


_test_command = click.option(
    "--test-command",
    default="",
    metavar="COMMAND",
    help="How tests are run, {tests} for their files; default: found out, pytest or unittest.",
)
_set_up = click.option(
    "--setup", "set_up", multiple=True, metavar="COMMAND", help="Run once before; again for more."
)
_leave_out = click.option(
    "--leave-out", multiple=True, metavar="GLOB", help="Files that no snapshot holds."
)
_into = click.option("--into", metavar="DIR", help="Where tasks go; default: the suite's folder.")


@task.command("mine")
@click.argument("span", metavar="[RANGE]", default="HEAD")
@click.option(
    "--most",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Stop at so many mined tasks, those there already counted.",
)
@click.option(
    "--last", type=click.IntRange(1), default=1000, show_default=True, help="Commits looked at."
)
@click.option(
    "--issues",
    type=click.Path(exists=True, path_type=Path),
    help="Issues told in place of messages: a folder, a number in each name, or a list in JSON.",
)
@click.option("--dry-run", is_flag=True, help="Only list the candidates.")
@_test_command
@_set_up
@_leave_out
@_into
@_times
@_sandbox
@_at_once
@pass_globals
def task_mine(options: Globals, /, **asked: Any) -> int:
    """Make tasks of the fixes in RANGE (HEAD), and keep those that are proven.

    A fix closes an issue or says so, and touches one to three source files and tests.
    """
    from evalgate.commands.tasks.mine import MineOptions, mine

    found = mine(project_of(options), MineOptions(**asked), console_of(options))
    return answered(options, found)


@task.command("new")
@click.option("--from-commit", "commit", default="", metavar="SHA", help="The commit that mends.")
@click.option("--from-run", "run", default="", metavar="RUN:TASK[:N]", help="A failed trial.")
@click.option(
    "--from-transcript",
    "transcript",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A session with an agent: its first request is the instruction.",
)
@click.option("--name", default="", help="The folder's name; default: made of the source.")
@click.option(
    "--instruction", default="", metavar="TEXT|@FILE", help="What is wrong, in your own words."
)
@click.option(
    "--test",
    "tests",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of hidden tests; again for more.",
)
@click.option("--at", default="", metavar="REV", help="The state that a transcript's task has.")
@click.option("--fix", default="", metavar="SHA", help="The commit that mends a transcript's task.")
@_test_command
@_set_up
@_leave_out
@_into
@pass_globals
def task_new(options: Globals, /, **asked: Any) -> int:
    """Make a task that stays of a failure, with where it comes from.

    What is missing is asked for on a terminal, and named with its flag elsewhere.
    """
    from evalgate.commands.tasks.new import NewOptions, new_task

    def ask(question: str) -> str:
        return str(click.prompt(question, "", show_default=False, prompt_suffix=" "))

    asks = ask if at_terminal(options) else None
    return answered(options, new_task(project_of(options), NewOptions(**asked), asks))

"""The whole command line: every family of commands on its root."""

from __future__ import annotations

import click

from evalgate.cli import (
    baselines,
    cassettes,
    planning,
    proofs,
    reporting,
    sandbox,
    tasks,
    tools,
    trials,
)
from evalgate.cli.root import cli
from evalgate.errors import ExitCode, UsageError

#: Importing a family declares its commands.
FAMILIES = (trials, baselines, planning, reporting, cassettes, tasks, proofs, sandbox, tools)


def command_line(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    try:
        result = cli.main(arguments, prog_name="evalgate", standalone_mode=False)
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return int(ExitCode.USAGE)
    except click.ClickException as error:
        raise UsageError(error.format_message(), hint=_usage_hint(error)) from error
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path} --help" if context is not None else "evalgate --help"

"""The commands about committed numbers: declare, call, exit."""

from __future__ import annotations

import click

from evalgate.cli.root import Globals, cli, console_of, out, pass_globals, project_of


@cli.group()
def baseline() -> None:
    """The committed numbers of a harness."""


@baseline.command()
@click.argument("run", default="latest")
@click.option("--reason", default="", help="One line for the ledger.")
@pass_globals
def accept(options: Globals, run: str, reason: str) -> int:
    """Write RUN's numbers below baselines/, with a ledger entry."""
    from evalgate.commands.baseline import accept as accept_run

    path = accept_run(project_of(options), run, console_of(options), reason=reason)
    return out(options, path, {"path": path})


@baseline.command("list")
@pass_globals
def list_(options: Globals) -> int:
    """List the committed baselines."""
    from evalgate.commands.baseline import list_baselines

    text = list_baselines(project_of(options))
    return out(options, text, {"baselines": text.splitlines()})

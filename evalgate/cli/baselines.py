"""The commands about committed numbers: declare, call, exit."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    Number,
    cli,
    console_of,
    out,
    pass_globals,
    project_of,
    rev_option,
)
from evalgate.errors import UsageError


@cli.group()
def baseline() -> None:
    """The committed numbers of a harness."""


@baseline.command()
@click.argument("run", default="latest")
@click.option("--reason", default="", help="One line for the ledger.")
@click.option("--hypothesis", default="", help="What was hoped for; else the commit's first line.")
@pass_globals
def accept(options: Globals, /, run: str, **asked: Any) -> int:
    """Write RUN's numbers below baselines/, with a ledger entry."""
    from evalgate.commands.accept import accept as accept_run

    path = accept_run(project_of(options), run, console_of(options), **asked)
    return out(options, path, {"path": path})


@cli.command()
@click.option("--task", default="", help="The task that may fall; without it the suite.")
@click.option("--max-drop", type=Number(0.1, 100), required=True, metavar="POINTS")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), required=True, help="The last day.")
@click.option("--reason", required=True, help="One line for whoever reads the verdict.")
@click.option("--base", help="Worse than where the head left this revision.")
@click.option("--head", help="A revision, INDEX or WORKTREE.")
@pass_globals
def waive(options: Globals, /, max_drop: float, until: datetime, **asked: Any) -> int:
    """Accept a known regression for a while; the file counts once the base has it."""
    from evalgate.commands.waive import waive as write

    path = write(project_of(options), max_drop=max_drop / 100, until=until.date(), **asked)
    return out(options, path, {"path": path})


@baseline.command("list")
@rev_option
@pass_globals
def list_(options: Globals, rev: str | None) -> int:
    """List the committed baselines."""
    from evalgate.commands.baselines import list_baselines

    text = list_baselines(project_of(options), rev=rev)
    return out(options, text, {"baselines": text.splitlines()})


@baseline.command()
@click.argument("name")
@rev_option
@pass_globals
def show(options: Globals, name: str, rev: str | None) -> int:
    """Show the trials of the baseline, or of the harness, whose name begins so."""
    from evalgate.commands.baselines import show_baseline

    text = show_baseline(project_of(options), name, rev=rev)
    return out(options, text, {"baseline": text})


@baseline.command()
@rev_option
@pass_globals
def verify(options: Globals, rev: str | None) -> int:
    """Recompute the digests of all baselines; exit 6 where one is not what it says."""
    from evalgate.commands.baselines import verify_baselines

    found = verify_baselines(project_of(options), rev=rev)
    out(options, found.text, found.to_json())
    return found.exit_code


@cli.command()
@click.option("--add", is_flag=True, help="First keep the newest verdict as an experiment.")
@click.option("--hypothesis", default="", help="With --add: what was hoped for.")
@click.option("--markdown", is_flag=True, help="A table for a page.")
@rev_option
@pass_globals
def ledger(options: Globals, /, *, add: bool, hypothesis: str, **asked: Any) -> int:
    """List every committed experiment: when, which harness, what was decided and why."""
    from evalgate.commands.experiment import add_experiment
    from evalgate.commands.ledger import ledger as read

    if add:
        add_experiment(project_of(options), console_of(options), hypothesis=hypothesis)
    elif hypothesis:
        raise UsageError("--hypothesis goes with --add", hint="evalgate ledger --add")
    found = read(project_of(options), **asked)
    return out(options, found.text, found.to_json())

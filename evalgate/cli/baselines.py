"""The commands about committed numbers: declare, call, exit."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    Number,
    ask_key,
    at_terminal,
    cli,
    console_of,
    out,
    pass_globals,
    project_of,
    rev_option,
    usd_option,
    workers_option,
)
from evalgate.core.plain import plain
from evalgate.errors import ExitCode, UsageError


@cli.group()
def baseline() -> None:
    """The committed numbers of a harness."""


@baseline.command()
@click.argument("run", default="latest")
@click.option("--reason", default="", help="One line for the ledger.")
@click.option("--hypothesis", default="", help="What was hoped for; else the commit's first line.")
@click.option(
    "-k",
    "fewest",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Accept no fewer live trials of each task; recordings are taken as they are.",
)
@click.option(
    "--supersede",
    is_flag=True,
    help="In the place of the harness's baselines, not pooled with them: the world moved.",
)
@pass_globals
def accept(options: Globals, /, run: str, **asked: Any) -> int:
    """Write RUN's numbers below baselines/, with a ledger entry."""
    from evalgate.commands.baselines.accept import accept as accept_run

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
    from evalgate.commands.baselines.listing import list_baselines

    found = list_baselines(project_of(options), rev=rev)
    return out(options, found.text, found.to_json())


@baseline.command()
@click.argument("name")
@rev_option
@pass_globals
def show(options: Globals, name: str, rev: str | None) -> int:
    """Show the trials of the baseline, or of the harness, whose name begins so."""
    from evalgate.commands.baselines.listing import show_baseline

    found = show_baseline(project_of(options), name, rev=rev)
    return out(options, found.text, found.to_json())


@baseline.command()
@rev_option
@pass_globals
def verify(options: Globals, rev: str | None) -> int:
    """Recompute the digests of all baselines; exit 6 where one is not what it says."""
    from evalgate.commands.baselines.listing import verify_baselines

    found = verify_baselines(project_of(options), rev=rev)
    out(options, found.text, found.to_json())
    return found.exit_code


@baseline.command()
@rev_option
@click.option(
    "-k",
    "trials",
    type=click.IntRange(1, 200),
    default=20,
    show_default=True,
    help="Trials a task.",
)
@click.option("--live", is_flag=True, help="Make the trials now, and write the baseline.")
@workers_option
@usd_option
@pass_globals
def renew(options: Globals, /, **asked: Any) -> int:
    """Say why a harness's baseline fits no more, and what a new one costs; make it with --live."""
    from evalgate.commands.baselines.renewal import RenewOptions
    from evalgate.commands.baselines.renewal import renew as make

    found = make(project_of(options), RenewOptions(**asked), console_of(options))
    return out(options, found.text, found.to_json())


@baseline.command()
@pass_globals
def review(options: Globals) -> int:
    """Go through what was measured here and is in no baseline: accept, reject or skip each.

    At a terminal a key answers; elsewhere, and in CI, it is only printed.
    """
    from evalgate.commands.baselines.accept import accept as accept_run
    from evalgate.commands.baselines.review import review as look

    project = project_of(options)
    found = look(project)
    if not at_terminal(options) or not found.pending:
        return out(options, found.text, found.to_json())
    for one in found.pending:
        click.echo(plain(one.text))
        key = ask_key("(a)ccept, (r)eject, (s)kip or (q)uit? ", "arsq")
        if key == "q":
            break
        if key == "a":
            click.echo(accept_run(project, one.run, console_of(options), fewest=one.fewest))
        elif key == "r":
            one.decline()
    click.echo("git status shows what was written: nothing is committed")
    return ExitCode.OK


@baseline.command()
@click.option(
    "--keep",
    type=click.IntRange(1),
    required=True,
    metavar="N",
    help="Keep those of the newest N harnesses that have one; what a tag names stays as well.",
)
@click.option("--yes", is_flag=True, help="Delete what is listed.")
@pass_globals
def prune(options: Globals, /, **asked: Any) -> int:
    """List committed baselines that nothing is compared with any more, on the default branch."""
    from evalgate.commands.baselines.pruning import prune as look

    found = look(project_of(options), **asked)
    return out(options, found.text, found.to_json())


@cli.command()
@click.option("--add", is_flag=True, help="First keep the newest verdict as an experiment.")
@click.option("--hypothesis", default="", help="With --add: what was hoped for.")
@click.option("--markdown", is_flag=True, help="A table for a page.")
@rev_option
@pass_globals
def ledger(options: Globals, /, *, add: bool, hypothesis: str, **asked: Any) -> int:
    """List every committed experiment: when, which harness, what was decided and why."""
    from evalgate.commands.baselines.experiment import add_experiment
    from evalgate.commands.experiments.ledger import ledger as read

    if add:
        add_experiment(project_of(options), console_of(options), hypothesis=hypothesis)
    elif hypothesis:
        raise UsageError("--hypothesis goes with --add", hint="evalgate ledger --add")
    found = read(project_of(options), console_of(options), **asked)
    out(options, found.text, found.to_json())
    return found.exit_code

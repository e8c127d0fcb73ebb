"""The commands that look at numbers and run nothing: declare, call, exit."""

from __future__ import annotations

import click

from evalgate.cli.root import Globals, Number, cli, out, pass_globals, project_of, rev_option


@cli.command()
@click.option(
    "--drop",
    type=Number(0, 100),
    default=15.0,
    show_default=True,
    metavar="POINTS",
    help="The drop in pass rate that shall be found.",
)
@click.option(
    "--usd",
    type=Number(0, 1e9),
    help="Deal so much out over the tasks, as `gate --usd` does, and say what it detects.",
)
@rev_option
@pass_globals
def plan(options: Globals, drop: float, usd: float | None, rev: str | None) -> int:
    """Say how many trials find a drop on this suite, and what they cost; runs nothing."""
    from evalgate.commands.plan import plan as look_ahead

    planned = look_ahead(project_of(options), rev=rev, drop=drop / 100, usd=usd)
    return out(options, planned.text, planned.to_json())


@cli.command()
@click.option(
    "-k", "trials", type=click.IntRange(1, 200), help="Trials a task; default: the suite's."
)
@rev_option
@pass_globals
def noise(options: Globals, trials: int | None, rev: str | None) -> int:
    """Say how often a gate cries wolf here, and the smallest drop it finds; runs nothing."""
    from evalgate.commands.plan import noise as look_at

    found = look_at(project_of(options), rev=rev, trials=trials)
    return out(options, found.text, found.to_json())


@cli.command()
@click.argument("base")
@click.argument("head")
@pass_globals
def compare(options: Globals, base: str, head: str) -> int:
    """Compare two runs, harnesses or revisions by what was measured of them; runs nothing."""
    from evalgate.commands.compare import compare as hold

    found = hold(project_of(options), base, head)
    return out(options, found.page, found.verdict.to_json())

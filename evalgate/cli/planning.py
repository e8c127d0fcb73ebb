"""The commands that look at numbers before or after a gate: declare, call, exit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    usd_option,
    workers_option,
)

if TYPE_CHECKING:
    from evalgate.core.trend import Window

#: So many days or sessions are a window at most.
_MOST = 10_000


def _window(context: click.Context, param: click.Parameter, value: str) -> Window:
    """Read so many days, written ``7d``, or so many sessions."""
    from evalgate.core.trend import Window

    number = value.removesuffix("d")
    if not (number.isascii() and number.isdigit() and 0 < int(number) <= _MOST):
        message = f"{value!r} is neither days (7d) nor sessions (7)."
        raise click.BadParameter(message, ctx=context, param=param)
    return Window(days=int(number)) if number != value else Window(sessions=int(number))


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
    from evalgate.commands.experiments.plan import plan as look_ahead

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
    from evalgate.commands.experiments.noise import noise as look_at

    found = look_at(project_of(options), rev=rev, trials=trials)
    return out(options, found.text, found.to_json())


@cli.command()
@click.argument("base")
@click.argument("head")
@pass_globals
def compare(options: Globals, base: str, head: str) -> int:
    """Compare two runs, harnesses or revisions by what was measured of them; runs nothing."""
    from evalgate.commands.experiments.compare import compare as hold

    found = hold(project_of(options), base, head)
    return out(options, found.page, found.verdict.to_json())


@cli.command()
@click.option(
    "--window",
    callback=_window,
    default="7d",
    show_default=True,
    metavar="7d|N",
    help="The newest days or sessions that are shown beside the first eight.",
)
@click.option("--live", is_flag=True, help="Make today's session first, if there is none.")
@click.option("--strict", is_flag=True, help="Exit with 4 while there are too few sessions.")
@rev_option
@workers_option
@usd_option
@pass_globals
def drift(options: Globals, /, **asked: Any) -> int:
    """Say whether the numbers of an unchanged harness move: exit 3 where they do.

    A session is one day's live trials of the whole suite: committed baselines, and runs made here.
    """
    from evalgate.commands.experiments.drift import DriftOptions
    from evalgate.commands.experiments.drift import drift as follow

    found = follow(project_of(options), DriftOptions(**asked), console_of(options))
    out(options, found.text, found.to_json())
    return found.exit_code


@cli.command()
@click.argument("task")
@click.argument("commits", metavar="GOOD..BAD")
@click.option("--dry-run", is_flag=True, help="Only say what is known, and what more would cost.")
@workers_option
@usd_option
@pass_globals
def bisect(options: Globals, /, **asked: Any) -> int:
    """Find the commit after GOOD, up to BAD, that broke TASK, by the fewest live trials.

    Trials that exist are taken first, and new ones are kept: interrupted, the same command goes on.
    """
    from evalgate.commands.experiments.bisect import BisectOptions
    from evalgate.commands.experiments.bisect import bisect as find

    found = find(project_of(options), BisectOptions(**asked), console_of(options))
    out(options, found.text, found.to_json())
    return found.exit_code

"""The commands that make and judge trials: declare, call, exit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    Number,
    cli,
    console_of,
    faults_option,
    out,
    pass_globals,
    project_of,
    rev_option,
    tasks_argument,
    usd_option,
    workers_option,
)


@cli.command()
@tasks_argument
@rev_option
@click.option("-k", "--trials", type=click.IntRange(1), help="Trials of each task.")
@click.option("--record", is_flag=True, help="Keep the recordings in cassettes/.")
@click.option("--again", is_flag=True, help="Record a harness that is recorded already.")
@click.option("--fresh", is_flag=True, help="Do not go on with an unfinished run.")
@click.option("--sandbox", help="auto, docker, podman, bwrap or process.")
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and its cost.")
@faults_option
@workers_option
@usd_option
@pass_globals
def run(options: Globals, /, **asked: Any) -> int:
    """Make live trials of TASKS (all of them by default) with the real model.

    Killed, interrupted or out of budget, the same command goes on where it stopped.
    """
    from evalgate.commands.making.run import RunOptions
    from evalgate.commands.making.run import run as make

    report = make(project_of(options), RunOptions(**asked), console_of(options))
    out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@tasks_argument
@rev_option
@workers_option
@faults_option
@click.option(
    "--allow-stale",
    multiple=True,
    metavar="PART",
    help="Only try whether it runs against recordings that differ in this part; may be repeated.",
)
@click.option(
    "--record-missing",
    type=click.IntRange(0),
    metavar="N",
    help="Ask the model what was not recorded, N requests at most. That proves nothing.",
)
@click.option(
    "--pace",
    type=Number(0, 1e6),
    default=0.0,
    metavar="X",
    help="Streams come X times as fast as they were recorded; 0 is at once.",
)
@pass_globals
def replay(options: Globals, /, **asked: Any) -> int:
    """Make the recorded trials of TASKS again: the agent runs, the recording answers.

    What was not recorded is refused and explained, and ends with exit 7.
    """
    from evalgate.commands.making.replay import ReplayOptions
    from evalgate.commands.making.replay import replay as make
    from evalgate.wiring import Kind

    asked_for = ReplayOptions(kind=Kind.REPLAY, **asked)
    report = make(project_of(options), asked_for, console_of(options))
    out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@click.argument("run", required=False, metavar="[RUN[:TASK[:N]]]")
@rev_option
@workers_option
@pass_globals
def regrade(options: Globals, /, **asked: Any) -> int:
    """Grade the recorded claims again: those of RUN, or the committed ones."""
    from evalgate.commands.making.replay import ReplayOptions
    from evalgate.commands.making.replay import replay as make
    from evalgate.wiring import Kind

    asked_for = ReplayOptions(kind=Kind.REGRADE, **asked)
    report = make(project_of(options), asked_for, console_of(options))
    out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@click.option("--base", help="Compare with where the head left this revision.")
@click.option("--head", help="A revision, INDEX or WORKTREE.")
@click.option("--live", is_flag=True, help="Make live trials now, as many as it takes.")
@click.option("--spot-check", is_flag=True, help="Make a few of the recorded trials anew.")
@click.option("--strict", is_flag=True, help="Exit with 4 where it stays undecided.")
@click.option("--hypothesis", default="", help="What is hoped for; else the commit's first line.")
@click.option("--advisory", is_flag=True, help="Exit with 0; verdict.json keeps the code.")
@click.option(
    "--fork-neutral",
    is_flag=True,
    help="Exit with 0 where a fork's change is not measured; verdict.json keeps the code.",
)
@click.option(
    "--promote", is_flag=True, help="After a pass write the head's baseline; commits nothing."
)
@click.option("--out", type=click.Path(path_type=Path), help="Where the verdict is written.")
@workers_option
@click.option(
    "--usd",
    "max_usd",
    type=Number(0, 1e9),
    help="Spend so much at most on the whole gate: fewer trials where it has to be, dealt out so"
    " that what is suspected can be confirmed.",
)
@pass_globals
def gate(options: Globals, /, **asked: Any) -> int:
    """Compare the head with the baseline committed for its base, and decide."""
    from evalgate.commands.gating.gate import GateOptions
    from evalgate.commands.gating.gate import gate as judge

    code, gated = judge(project_of(options), GateOptions(**asked), console_of(options))
    out(options, gated.page, gated.verdict.to_json())
    return code

"""The part of the command line that is about recordings: declare, call, exit."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import Globals, answered, cli, pass_globals, project_of, rev_option

_cassette = click.argument("cassette", metavar="PATH|TASK[:N]")


@cli.group()
def cassette() -> None:
    """Looks into the recordings, moves them, and hands them to other tools."""


@cassette.command("list")
@rev_option
@pass_globals
def cassette_list(options: Globals, rev: str | None) -> int:
    """List what is recorded, harness by harness."""
    from evalgate.commands.cassettes.list import list_cassettes

    return answered(options, list_cassettes(project_of(options), rev))


@cassette.command("show")
@_cassette
@click.option("--exchange", type=click.IntRange(0), metavar="K", help="Only this one, in full.")
@rev_option
@pass_globals
def cassette_show(options: Globals, /, **asked: Any) -> int:
    """Show a cassette: its header, the scrub rules with their hits, its exchanges."""
    from evalgate.commands.cassettes.show import ShowOptions, show_cassette

    shown = ShowOptions(directory=options.directory, **asked)
    return answered(options, show_cassette(partial(project_of, options), shown))


@cassette.command("diff")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option("--rev", metavar="REV|R1..R2", help="The state of both, or of each.")
@pass_globals
def cassette_diff(options: Globals, /, **asked: Any) -> int:
    """Tell where two cassettes part."""
    from evalgate.commands.cassettes.diff import DiffOptions, diff_cassettes

    compared = DiffOptions(directory=options.directory, **asked)
    return answered(options, diff_cassettes(partial(project_of, options), compared))


@cassette.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@rev_option
@pass_globals
def cassette_scan(options: Globals, /, **asked: Any) -> int:
    """Look for secrets in PATHS, or in all recordings and baselines; exit 6 on one."""
    from evalgate.commands.cassettes.scan import ScanOptions, scan_cassettes

    scanned = ScanOptions(directory=options.directory, **asked)
    return answered(options, scan_cassettes(partial(project_of, options), scanned))


@cassette.command("verify")
@rev_option
@pass_globals
def cassette_verify(options: Globals, rev: str | None) -> int:
    """Check that every recording is whole (else exit 6) and not stale (else exit 7)."""
    from evalgate.commands.cassettes.verify import verify_cassettes

    return answered(options, verify_cassettes(project_of(options), rev))


@cassette.command("prune")
@click.option("--keep", type=click.IntRange(1), default=1, help="Trials of each task that stay.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Put the others there.")
@click.option("--to-ref", "ref", metavar="REF", help="Put the others below a ref; auto names it.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@pass_globals
def cassette_prune(options: Globals, /, folder: Path | None, **asked: Any) -> int:
    """Keep one trial a task of the current harness; put everything else aside."""
    from evalgate.commands.cassettes.prune import PruneOptions, prune_cassettes

    place = None if folder is None else options.directory.resolve() / folder
    return answered(
        options, prune_cassettes(project_of(options), PruneOptions(folder=place, **asked))
    )


@cassette.command("export")
@click.argument("cassettes", nargs=-1, metavar="[PATH|TASK[:N]]...")
@click.option("--to", required=True, metavar="har|jsonl|DIR", help="A format, or a folder.")
@click.option("--from-ref", "ref", help="Take what was put aside below this ref.")
@rev_option
@pass_globals
def cassette_export(options: Globals, /, **asked: Any) -> int:
    """Write exchanges to stdout for other tools, or copy the recordings to a folder."""
    from evalgate.commands.cassettes.export import ExportOptions, export_cassettes

    exported = ExportOptions(directory=options.directory, **asked)
    return answered(options, export_cassettes(project_of(options), exported))

"""The commands that report what trials showed: declare, call, exit."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalgate.cli.root import (
    Globals,
    ask_key,
    at_terminal,
    cli,
    console_of,
    out,
    pass_globals,
    project_of,
)
from evalgate.core.plain import plain
from evalgate.errors import ExitCode


@cli.command()
@click.argument("run", default="latest", metavar="[RUN[:TASK[:N]]]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json", "junit", "html"]),
    default="md",
    show_default=True,
    help="A page, a document for programs, test results for a CI server, or one file to open.",
)
@click.option("-o", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write it there.")
@pass_globals
def report(options: Globals, run: str, form: str, file: Path | None) -> int:
    """Report a run (the newest by default): how it stands, and what each trial did."""
    from evalgate.commands.telling.reporting import render_report

    text = render_report(project_of(options), run, form)
    if file is None:
        value = json.loads(text) if form == "json" else {"format": form, "text": text}
        return out(options, text, value)
    from evalgate.disk import write_whole

    made = "" if file.parent.exists() else f", in the new folder {file.parent}"
    write_whole(file, text.encode("utf-8", "replace"))
    console_of(options).note(f"wrote {file}{made}")
    return out(options, "", {"format": form, "path": str(file)})


@cli.command()
@click.argument("run", default="latest", metavar="[RUN[:TASK[:N]]]")
@click.option("--sample", type=click.IntRange(1), default=5, show_default=True, metavar="N")
@click.option("--seed", default="", help="Draw other trials; the same seed draws the same ones.")
@pass_globals
def read(options: Globals, run: str, sample: int, seed: str) -> int:
    """Read a few trials of a run from the question to the end, surprising passes first.

    At a terminal a key says that one was read; elsewhere, and in CI, they are only printed.
    Verdicts and the ledger say how many were read, and by whom.
    """
    from evalgate.commands.telling.reading import read as lead

    found = lead(project_of(options), run, sample=sample, seed=seed)
    if not at_terminal(options):
        return out(options, found.text, found.to_json())
    if found.warning:
        click.echo(found.warning)
    for number, one in enumerate(found.items):
        click.echo(plain(f"{found.heading(number)}\n{one.text}"))
        key = ask_key("(r)ead, (s)kip or (q)uit? ", "rsq")
        if key == "q":
            break
        if key == "r":
            found.mark(one)
    click.echo(plain(found.read.sentence))
    return ExitCode.OK

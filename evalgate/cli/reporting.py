"""The commands that report what trials showed: declare, call, exit."""

from __future__ import annotations

from pathlib import Path

import click

from evalgate.cli.root import Globals, cli, console_of, out, pass_globals, project_of


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
@click.option("-o", "file", type=click.Path(path_type=Path), help="Write it there.")
@pass_globals
def report(options: Globals, run: str, form: str, file: Path | None) -> int:
    """Report a run (the newest by default): how it stands, and what each trial did."""
    from evalgate.commands.reporting import render_report

    text = render_report(project_of(options), run, form)
    if file is None:
        return out(options, text, {"format": form, "text": text})
    from evalgate.disk import write_whole

    write_whole(file, text.encode("utf-8", "replace"))
    console_of(options).note(f"wrote {file}")
    return out(options, "", {"format": form, "path": str(file)})

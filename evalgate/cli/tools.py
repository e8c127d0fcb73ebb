"""The commands that show, install and try: declare, call, exit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import Globals, cli, console_of, out, pass_globals, project_of


@cli.command()
@click.argument("rev", default="WORKTREE")
@click.option("--diff", "pair", metavar="A..B", help="What differs between two states.")
@pass_globals
def fingerprint(options: Globals, rev: str, pair: str | None) -> int:
    """Print the harness's fingerprint at REV (a revision, INDEX or WORKTREE)."""
    from evalgate.commands.fingerprint import show_difference, show_fingerprint

    project = project_of(options)
    if pair is not None:
        value, text = show_difference(project, pair)
    else:
        value, text = show_fingerprint(project, rev)
    return out(options, text, value)


@cli.command()
@click.argument("run", required=False, metavar="[RUN[:TASK[:N]]]")
@pass_globals
def show(options: Globals, run: str | None) -> int:
    """Show the runs, one run, a task of it, or one trial."""
    from evalgate.commands.show import show as tell

    text = tell(project_of(options), run)
    return out(options, text, {"text": text})


@cli.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--artifact", default="", metavar="NAME", help="In place of a folder: one of the run before."
)
@click.option(
    "--to",
    multiple=True,
    type=click.Choice(["summary", "outputs", "annotations", "comment"]),
    help="Tell it there alone; may be repeated.",
)
@click.option("--pr", "pull", type=click.IntRange(1), help="The pull request, if no event says.")
@click.option("--key", default="", help="Tells apart the comments of several jobs.")
@click.option("--author", default="", metavar="LOGIN", help="Who the token of an app posts as.")
@click.option("--dry-run", is_flag=True, help="Show the comment, and write nothing.")
@pass_globals
def comment(options: Globals, /, **asked: Any) -> int:
    """Tell the verdict in FOLDER (of `gate --out`) on GitHub: one comment that stays.

    Also in the job's summary, outputs and annotations. The token is read from GITHUB_TOKEN.
    """
    import os

    from evalgate.commands.comment import CommentOptions
    from evalgate.commands.comment import comment as tell

    chosen = CommentOptions(**asked)
    announced = tell(options.directory, options.config, chosen, console_of(options), os.environ)
    return out(options, announced.text, announced.to_json())


@cli.command()
@click.option("--dry-run", is_flag=True, help="Show it and leave it.")
@click.option("--images", is_flag=True, help="Also young images; older ones than a week always go.")
@pass_globals
def clean(options: Globals, *, dry_run: bool, images: bool) -> int:
    """Remove what killed runs left on this machine, and old images that evalgate made."""
    from evalgate.commands.clean import clean as remove

    cleaned = remove(dry_run=dry_run, images=images)
    return out(options, cleaned.text, cleaned.to_json())


@cli.group()
def hook() -> None:
    """The pre-push hook."""


@hook.command()
@pass_globals
def install(options: Globals) -> int:
    """Write the pre-push hook of this repository."""
    from evalgate.commands.hook import install as write

    text = write(options.directory)
    return out(options, text, {"text": text})


@hook.command()
@pass_globals
def uninstall(options: Globals) -> int:
    """Remove the pre-push hook if it is evalgate's."""
    from evalgate.commands.hook import uninstall as remove

    text = remove(options.directory)
    return out(options, text, {"text": text})


@hook.command("run")
@click.option("--project", default=".", help="The project's folder, from here.")
@click.argument("remote", default="")
@click.argument("url", default="")
@pass_globals
def hook_run(options: Globals, project: str, remote: str, url: str) -> int:
    """Judge the refs that git's pre-push gives on stdin (git calls this)."""
    from evalgate.commands.hook import run_hook

    del url
    return run_hook(options.directory / project, remote, sys.stdin.read())


@cli.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the repository there.")
@pass_globals
def demo(options: Globals, keep: Path | None) -> int:
    """Judge a bundled prompt edit by recordings of a real model: offline, no key."""
    from evalgate.commands.demo import demo as play

    text = play(keep=keep)
    return out(options, text, {"text": text})


@cli.command("local-model", context_settings={"ignore_unknown_options": True})
@click.option("--gguf", type=click.Path(path_type=Path), help="Serve this model file.")
@click.option("--parallel", type=click.IntRange(1), default=2, help="Requests at once.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@pass_globals
def local_model(
    options: Globals, gguf: Path | None, parallel: int, command: tuple[str, ...]
) -> int:
    """Serve a small real model on loopback while COMMAND runs."""
    from evalgate.commands.local_model import local_model as serve

    return serve(command, gguf=gguf, parallel=parallel, console=console_of(options))

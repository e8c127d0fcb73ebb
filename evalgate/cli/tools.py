"""The commands that show, install and try: declare, call, exit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalgate.cli.root import (
    Globals,
    answered,
    at_terminal,
    cli,
    console_of,
    out,
    pass_globals,
    project_of,
)


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
    from evalgate.commands.telling.show import show as tell

    return answered(options, tell(project_of(options), run))


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

    from evalgate.commands.telling.comment import CommentOptions
    from evalgate.commands.telling.comment import comment as tell

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


@cli.command()
@click.option("--agent", default="", help="claude-code, program or starter; else it is found out.")
@click.option("--command", default="", metavar="WORDS", help="The agent's command, as for a shell.")
@click.option("--model", default="", help="The id of its model.")
@click.option("--upstream", default="", help="Who serves it: anthropic, openai, a URL, env:NAME.")
@click.option("--image", is_flag=True, help="A Dockerfile, also where the agent needs none.")
@click.option("--pyproject", is_flag=True, help="Add [tool.evalgate] to pyproject.toml instead.")
@click.option("--hook/--no-hook", default=None, help="The pre-push hook.")
@click.option("--workflow/--no-workflow", default=None, help="A workflow for GitHub Actions.")
@click.option(
    "--workflows",
    "beside",
    default="",
    metavar="LIST",
    help="More of them: comment, live, drift, baseline, or all.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take what is likely.")
@click.option(
    "--mine",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Then make N tasks of the history, each proven, and say what a run comes to.",
)
@pass_globals
def init(
    options: Globals,
    *,
    agent: str,
    command: str,
    model: str,
    upstream: str,
    image: bool,
    pyproject: bool,
    hook: bool | None,
    workflow: bool | None,
    beside: str,
    dry_run: bool,
    yes: bool,
    mine: int | None,
) -> int:
    """Begin here: configuration, a sample task, image, workflow, hook. Nothing is overwritten."""
    from evalgate.commands.first_workflows import named
    from evalgate.commands.init import InitOptions
    from evalgate.commands.init import init as begin
    from evalgate.commands.starting import Wishes

    asks = not (yes or dry_run) and at_terminal(options)
    wishes = Wishes(agent=agent, command=command, model=model, upstream=upstream, image=image)
    wanted = InitOptions(
        wishes=wishes,
        pyproject=pyproject,
        hook=hook,
        workflow=workflow,
        beside=named(beside),
        mined=mine is not None,
        dry_run=dry_run,
    )

    def ask(question: str, likely: str) -> str:
        return str(click.prompt(question, default=likely)) if asks else likely

    done = begin(options.directory, wanted, ask)
    text, value = done.text, done.to_json()
    if mine is not None and not dry_run:
        from evalgate.commands.tasks.first import first_tasks

        console = console_of(options)
        try:
            first = first_tasks(project_of(options), mine, console)
        except BaseException:
            console.note(text)  # what was written stays, with or without tasks
            raise
        text, value = f"{first.text}\n\n{text}", {**value, "tasks": first.value}
    return out(options, text, value)


@cli.command()
@pass_globals
def doctor(options: Globals) -> int:
    """Audit the project and this machine: a line each, and what mends it. No key is shown.

    Exit 2 where something is wrong, 9 where only something is not available here.
    """
    import os

    from evalgate.commands.doctor.doctor import doctor as examine

    return answered(options, examine(project_of(options), os.environ))


@cli.group()
def hook() -> None:
    """The pre-push hook."""


@hook.command()
@click.option(
    "--chain", is_flag=True, help="Also where a hook or a manager of hooks is: that one runs first."
)
@pass_globals
def install(options: Globals, *, chain: bool) -> int:
    """Write the pre-push hook of this repository."""
    from evalgate.commands.hooks.hook_installation import install as write

    text = write(options.directory, chain=chain)
    return out(options, text, {"text": text})


@hook.command()
@pass_globals
def uninstall(options: Globals) -> int:
    """Remove the pre-push hook if it is evalgate's; a chained one comes back."""
    from evalgate.commands.hooks.hook_installation import uninstall as remove

    text = remove(options.directory)
    return out(options, text, {"text": text})


@hook.command("run")
@click.option("--project", default=".", help="The project's folder, from here.")
@click.option("--script", type=click.Path(path_type=Path), hidden=True)
@click.argument("remote", default="")
@click.argument("url", default="")
@pass_globals
def hook_run(options: Globals, project: str, script: Path | None, remote: str, url: str) -> int:
    """Judge the refs that git's pre-push gives on stdin (git calls this).

    Without them: what pre-commit or prek say in the environment, else HEAD against its upstream.
    """
    from evalgate.commands.hooks.hook import Caller, run_hook, standard_input

    del url
    caller = Caller(project=project, script=script)
    code = run_hook(options.directory, remote, standard_input(), caller)
    out(options, "", {"exit_code": int(code)})
    return code


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

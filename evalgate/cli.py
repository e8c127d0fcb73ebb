"""The command line: declare, call, exit."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evalgate import __version__
from evalgate.errors import ExitCode, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Globals:
    """The options that every command has."""

    directory: Path
    config: str | None
    quiet: bool
    color: bool
    as_json: bool


_pass = click.make_pass_decorator(Globals)
_tasks = click.argument("tasks", nargs=-1)
_workers = click.option("-j", "workers", type=click.IntRange(1), help="Trials at once.")
_rev = click.option("--rev", help="A revision, INDEX or WORKTREE (the default).")
_usd = click.option(
    "--max-usd", type=click.FloatRange(0, 1e9), help="Ask no model once this is spent."
)
_faults = click.option("--faults", metavar="PLAN", help="Let go wrong what a fault plan says.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evalgate")
@click.option("-C", "directory", type=click.Path(path_type=Path), default=".", help="Work there.")
@click.option("--config", metavar="FILE", help="The name of the configuration file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--no-color", is_flag=True, help="No colours.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def cli(
    context: click.Context,
    directory: Path,
    config: str | None,
    *,
    quiet: bool,
    no_color: bool,
    as_json: bool,
) -> None:
    """The gate between an edited prompt and an agent that works."""
    if not directory.is_dir():
        message = f"-C {directory}: there is no such directory"
        raise UsageError(message, hint="name a directory of a git repository")
    color = not no_color and not os.environ.get("NO_COLOR")
    context.obj = Globals(
        directory=directory, config=config, quiet=quiet, color=color, as_json=as_json
    )


def command_line(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    try:
        result = cli.main(arguments, prog_name="evalgate", standalone_mode=False)
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return int(ExitCode.USAGE)
    except click.ClickException as error:
        raise UsageError(error.format_message(), hint=_usage_hint(error)) from error
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path} --help" if context is not None else "evalgate --help"


def _console(options: Globals) -> Any:
    from evalgate.commands.console import Console

    return Console(quiet=options.quiet or options.as_json, color=options.color)


def _project(options: Globals) -> Any:
    from evalgate.commands.project import open_project

    return open_project(options.directory, options.config)


def _out(options: Globals, text: str, value: Any) -> ExitCode:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True) if options.as_json else text
    try:
        if text:
            click.echo(text)
    except BrokenPipeError:  # nobody reads any more; the exit code still counts
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK


@cli.command()
@click.argument("rev", default="WORKTREE")
@click.option("--diff", "pair", metavar="A..B", help="What differs between two states.")
@_pass
def fingerprint(options: Globals, rev: str, pair: str | None) -> int:
    """Print the harness's fingerprint at REV (a revision, INDEX or WORKTREE)."""
    from evalgate.commands.fingerprint import show_difference, show_fingerprint

    project = _project(options)
    if pair is not None:
        value, text = show_difference(project, pair)
    else:
        value, text = show_fingerprint(project, rev)
    return _out(options, text, value)


@cli.command()
@_tasks
@_rev
@click.option("-k", "--trials", type=click.IntRange(1), help="Trials of each task.")
@click.option("--record", is_flag=True, help="Keep the recordings in cassettes/.")
@click.option("--again", is_flag=True, help="Record a harness that is recorded already.")
@click.option("--fresh", is_flag=True, help="Do not go on with an unfinished run.")
@click.option("--sandbox", help="auto, bwrap or process.")
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and its cost.")
@_faults
@_workers
@_usd
@_pass
def run(options: Globals, /, **asked: Any) -> int:
    """Make live trials of TASKS (all of them by default) with the real model."""
    from evalgate.commands.run import RunOptions
    from evalgate.commands.run import run as make

    report = make(_project(options), RunOptions(**asked), _console(options))
    _out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@_tasks
@_rev
@_workers
@_faults
@_pass
def replay(options: Globals, /, **asked: Any) -> int:
    """Make the recorded trials of TASKS again: the agent runs, the recording answers."""
    from evalgate.commands.replay import ReplayOptions
    from evalgate.commands.replay import replay as make
    from evalgate.wiring import Kind

    asked_for = ReplayOptions(kind=Kind.REPLAY, **asked)
    report = make(_project(options), asked_for, _console(options))
    _out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@click.argument("run", required=False)
@_rev
@_workers
@_pass
def regrade(options: Globals, /, **asked: Any) -> int:
    """Grade the recorded claims again: those of RUN, or the committed ones."""
    from evalgate.commands.replay import ReplayOptions
    from evalgate.commands.replay import replay as make
    from evalgate.wiring import Kind

    asked_for = ReplayOptions(kind=Kind.REGRADE, **asked)
    report = make(_project(options), asked_for, _console(options))
    _out(options, report.text, report.to_json())
    return report.exit_code


@cli.command()
@click.option("--base", help="Compare with where the head left this revision.")
@click.option("--head", help="A revision, INDEX or WORKTREE.")
@click.option("--live", is_flag=True, help="Make live trials of the head now.")
@click.option("--advisory", is_flag=True, help="Exit with 0; verdict.json keeps the code.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the verdict is written.")
@_workers
@_usd
@_pass
def gate(options: Globals, /, **asked: Any) -> int:
    """Compare the head with the baseline committed for its base, and decide."""
    from evalgate.commands.gate import GateOptions
    from evalgate.commands.gate import gate as judge

    code, gated = judge(_project(options), GateOptions(**asked), _console(options))
    _out(options, gated.page, gated.verdict.to_json())
    return code


@cli.group()
def baseline() -> None:
    """The committed numbers of a harness."""


@baseline.command()
@click.argument("run", default="latest")
@click.option("--reason", default="", help="One line for the ledger.")
@_pass
def accept(options: Globals, run: str, reason: str) -> int:
    """Write RUN's numbers below baselines/, with a ledger entry."""
    from evalgate.commands.baseline import accept as accept_run

    path = accept_run(_project(options), run, _console(options), reason=reason)
    return _out(options, path, {"path": path})


@baseline.command("list")
@_pass
def list_(options: Globals) -> int:
    """List the committed baselines."""
    from evalgate.commands.baseline import list_baselines

    text = list_baselines(_project(options))
    return _out(options, text, {"baselines": text.splitlines()})


@cli.command()
@click.argument("run", required=False, metavar="[RUN[:TASK[:N]]]")
@_pass
def show(options: Globals, run: str | None) -> int:
    """Show the runs, one run, a task of it, or one trial."""
    from evalgate.commands.show import show as tell

    text = tell(_project(options), run)
    return _out(options, text, {"text": text})


@cli.group()
def hook() -> None:
    """The pre-push hook."""


@hook.command()
@_pass
def install(options: Globals) -> int:
    """Write the pre-push hook of this repository."""
    from evalgate.commands.hook import install as write

    text = write(options.directory)
    return _out(options, text, {"text": text})


@hook.command()
@_pass
def uninstall(options: Globals) -> int:
    """Remove the pre-push hook if it is evalgate's."""
    from evalgate.commands.hook import uninstall as remove

    text = remove(options.directory)
    return _out(options, text, {"text": text})


@hook.command("run")
@click.option("--project", default=".", help="The project's folder, from here.")
@click.argument("remote", default="")
@click.argument("url", default="")
@_pass
def hook_run(options: Globals, project: str, remote: str, url: str) -> int:
    """Judge the refs that git's pre-push gives on stdin (git calls this)."""
    from evalgate.commands.hook import run_hook

    del url
    return run_hook(options.directory / project, remote, sys.stdin.read())


@cli.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the repository there.")
@_pass
def demo(options: Globals, keep: Path | None) -> int:
    """Judge a bundled prompt edit by recordings of a real model: offline, no key."""
    from evalgate.commands.demo import demo as play

    text = play(keep=keep)
    return _out(options, text, {"text": text})


@cli.command("local-model", context_settings={"ignore_unknown_options": True})
@click.option("--gguf", type=click.Path(path_type=Path), help="Serve this model file.")
@click.option("--parallel", type=click.IntRange(1), default=2, help="Requests at once.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@_pass
def local_model(
    options: Globals, gguf: Path | None, parallel: int, command: tuple[str, ...]
) -> int:
    """Serve a small real model on loopback while COMMAND runs."""
    from evalgate.commands.local_model import local_model as serve

    return serve(command, gguf=gguf, parallel=parallel, console=_console(options))

"""The root of the command line: the options of every command, and what commands share."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from evalgate import __version__
from evalgate.core.plain import plain
from evalgate.errors import ExitCode, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Globals:
    """The options that every command has."""

    directory: Path
    config: str | None
    quiet: bool
    color: bool
    as_json: bool


#: Flags that may stand before a command's name, or after it: their names, what they say of
#: `Globals`, and their help.
_FLAGS: Final[Sequence[tuple[Sequence[str], Mapping[str, bool], str]]] = (
    (["--json"], {"as_json": True}, "One JSON document on stdout."),
    (["-q", "--quiet"], {"quiet": True}, "No progress on stderr."),
    (["--no-color"], {"color": False}, "No colours."),
)


class Verb(click.Command):
    """A command, with the flags that every command has."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        if self.context_settings.get("ignore_unknown_options"):  # they are another program's
            return
        for names, meant, told in _FLAGS:

            def ask(
                context: click.Context,
                _: click.Parameter,
                asked: bool,  # noqa: FBT001 - click's own form
                meant: Mapping[str, Any] = meant,
            ) -> None:
                if asked:
                    context.obj = replace(context.obj, **meant)

            flag = click.Option(names, is_flag=True, expose_value=False, callback=ask, help=told)
            self.params.append(flag)


class Verbs(click.Group):
    """Commands under one name."""

    command_class = Verb
    group_class = type


class Number(click.FloatRange):
    """A finite number within bounds: ``nan`` is in none, though no comparison says so."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; click's own error for what is none."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


pass_globals = click.make_pass_decorator(Globals)
tasks_argument = click.argument("tasks", nargs=-1)
workers_option = click.option("-j", "workers", type=click.IntRange(1), help="Trials at once.")
rev_option = click.option("--rev", help="A revision, INDEX or WORKTREE (the default).")
usd_option = click.option(
    "--usd", "max_usd", type=Number(0, 1e9), help="Ask no model once so many dollars are spent."
)
faults_option = click.option(
    "--faults",
    metavar="PLAN",
    help="Let go wrong what a plan says: a ready one such as retry, or a file. Nothing counts.",
)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
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


def console_of(options: Globals) -> Any:
    """Return the console that progress goes to."""
    from evalgate.commands.console import Console

    return Console(quiet=options.quiet or options.as_json, color=options.color)


def at_terminal(options: Globals) -> bool:
    """Tell whether a person may be asked: never in CI, nor where a program reads along."""
    return not (options.as_json or os.environ.get("CI")) and all(
        stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)
    )


def ask_key(question: str, keys: str) -> str:
    """Ask a terminal until one of the keys is pressed; return it. What was typed ahead counts."""
    key = ""
    while not key or key not in keys:
        click.echo(question, nl=False)
        key = _pressed().lower()
        click.echo(plain(key))
    return key


def _pressed() -> str:
    """Return one byte of the terminal as it comes; unlike click's, it drops none before it."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        key = os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    # What ends a line of input is a zero byte where it was typed ahead.
    if key in {b"", b"\x04", b"\x00"}:
        raise EOFError
    return key.decode("ascii", "replace")


def project_of(options: Globals) -> Any:
    """Return the project that the options name."""
    from evalgate.commands.project import open_project

    return open_project(options.directory, options.config)


def out(options: Globals, text: str, value: Any) -> ExitCode:
    """Print a result: the text, or the value as one JSON document."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True) if options.as_json else text
    try:
        if text:
            click.echo(plain(text))
    except BrokenPipeError:  # nobody reads any more; the exit code still counts
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK


def answered(options: Globals, answer: Any) -> int:
    """Print what a command answers; return its exit code."""
    out(options, answer.text, answer.value)
    return int(answer.code)

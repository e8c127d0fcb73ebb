"""The part of the command line that agents on the host use: declare, call, exit."""

from __future__ import annotations

import os
import sys

import click

from evalgate.cli.root import Number, cli

# No command here has a result of its own for ``--json``: what comes from inside is printed.

#: Options end where the command begins, with or without ``--``.
_COMMAND = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@cli.group()
def sandbox() -> None:
    """Works in the sandbox of a trial, for an agent on the host; `base` is for its image."""


@sandbox.command("exec", context_settings=_COMMAND)
@click.option("--timeout", type=Number(0, 86_400, min_open=True), help="Seconds; 600 without.")
@click.option("--cwd", metavar="DIR", help="Work there, from the repository on.")
@click.option("-i", "--stdin", "listens", is_flag=True, help="Pass standard input on.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def sandbox_exec(
    timeout: float | None, cwd: str | None, command: tuple[str, ...], *, listens: bool
) -> int:
    """Run COMMAND in the sandbox; one word is a line for its shell.

    Both outputs come on stdout, head and tail of 1 MiB each; the exit code is the command's, 124
    after a time-out.
    """
    from evalgate.commands.sandbox import Execution, execute

    data = sys.stdin.buffer.read() if listens else b""
    execution = Execution(words=command, timeout=timeout, cwd=cwd, stdin=data)
    return execute(execution, os.environ)


@sandbox.command("read", cls=click.Command)
@click.argument("path")
def sandbox_read(path: str) -> int:
    """Print a file of the sandbox; PATH is relative to the repository."""
    from evalgate.commands.sandbox import read

    return read(path, os.environ)


@sandbox.command("write", cls=click.Command)
@click.argument("path")
def sandbox_write(path: str) -> int:
    """Write standard input to a file of the sandbox."""
    from evalgate.commands.sandbox import write

    return write(path, sys.stdin.buffer.read(), os.environ)


@sandbox.command("mcp", cls=click.Command)
def sandbox_mcp() -> int:
    """Serve the sandbox over stdio by the Model Context Protocol: bash, read_file, write_file."""
    from evalgate.commands.mcp import Server
    from evalgate.sandboxes.client import Client

    return Server(Client.of(os.environ), sys.stdout.buffer).serve(sys.stdin.buffer)


@sandbox.command("base", cls=click.Command)
def sandbox_base() -> None:
    """Print a script that makes a base image of Debian packages, where no registry can be reached.

    It needs apt and docker: evalgate sandbox base | bash -s -- my-base nodejs npm. Then
    EVALGATE_BASE_IMAGE=my-base names it.
    """
    from importlib.resources import files

    from evalgate.sandboxes import image

    click.echo((files(image) / "base").read_text(encoding="utf-8"), nl=False)

"""`--json` says the same before a verb and after it."""

from __future__ import annotations

import json

import click
import pytest

from evalgate.cli.command_line import FAMILIES
from evalgate.cli.root import cli

VERBS = [
    ("fingerprint",),
    ("show",),
    ("baseline", "list"),
    ("cassette", "list"),
    ("cassette", "verify"),
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_one_document_wherever_it_is_asked_for(recorded, evalgate, verb):
    """And the text without it."""
    before = evalgate("--json", *verb, cwd=recorded.path)
    after = evalgate(*verb, "--json", cwd=recorded.path)
    assert before.returncode == after.returncode == 0, before.stderr + after.stderr
    assert before.stdout == after.stdout
    assert isinstance(json.loads(after.stdout), dict)
    assert not evalgate(*verb, cwd=recorded.path).stdout.startswith("{")


def test_an_error_comes_in_the_same_envelope(recorded, evalgate):
    """Also one of the command line itself."""
    for arguments in (("replay", "--pace", "nan"), ("show", "no-such-run")):
        done = evalgate(*arguments, "--json", cwd=recorded.path)
        assert done.returncode == 2
        assert json.loads(done.stdout)["error"]["exit_code"] == 2


def test_every_verb_takes_it_but_those_that_run_a_program():
    """Whose arguments are the program's own, and those that print what is in a sandbox."""
    inside = {f"sandbox {name}" for name in ("read", "write", "mcp")}
    assert FAMILIES
    without: list[str] = []
    waiting: list[tuple[str, click.Command]] = [("", cli)]
    while waiting:
        name, command = waiting.pop()
        if isinstance(command, click.Group):
            waiting += [(f"{name} {inner}", one) for inner, one in command.commands.items()]
        elif not any("--json" in one.opts for one in command.params):
            without.append(name.strip())
    assert {"local-model", "sandbox exec"} == set(without) - inside

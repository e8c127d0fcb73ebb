"""The pages of docs hold together with the code: their tables are whole, their commands there."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from evalgate.cli.command_line import cli
from evalgate.core.decision import EXIT_CODES, Decision, exit_code_of
from evalgate.errors import ExitCode
from tests.pages import PAGES, blocks, coded, rows

EXIT_PAGE = PAGES["docs/exit-codes.md"]
_SPAN = re.compile(r"`evalgate ([^`\n]+)`")
_LINE = re.compile(r"^(?:.*bin/)?evalgate ([^#\n]+)", re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """Return the words of every command of evalgate in backticks or in a block of a page."""
    found = _SPAN.findall(page)
    for block in blocks(r"\w*", page):
        found += _LINE.findall(block)
    return [shlex.split(one, posix=False) for one in found]


def unknown_of(words: list[str]) -> list[str]:
    """Return what the command line does not know in these words."""
    command: click.Command = cli
    options: set[str] = set()
    for word in words:
        if word == "--":
            break
        if word.startswith("-"):
            options.add(word.partition("=")[0])
        elif isinstance(command, click.Group) and not options:
            if word not in command.commands:
                return [word]
            command = command.commands[word]
    known = {"-h", "--help", "--version"}
    known |= {opt for one in command.params for opt in (*one.opts, *one.secondary_opts)}
    return sorted(options - known)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_command_of_a_page_is_one(name):
    """With each option that is named behind it."""
    for words in commands(PAGES[name]):
        assert not unknown_of(words), words


def test_every_decision_is_told_with_its_code():
    """No more and no fewer."""
    told = {coded(first)[0]: code for first, code, *_ in rows("## Decisions", EXIT_PAGE)}
    assert set(told) == set(Decision)
    for decision, code in told.items():
        assert int(code.split(",")[0]) == EXIT_CODES[Decision(decision)]
    strict = exit_code_of(Decision.UNDECIDED, strict=True)
    assert told["undecided"] == f"0, with `--strict` {int(strict)}"


def test_every_exit_code_is_told():
    """Of every command, in order."""
    told = [int(first.strip("| ")) for first, *_ in rows("## Codes", EXIT_PAGE)]
    assert told == [int(code) for code in ExitCode]

"""The schemas of what programs read, and the documents that are held to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry, Resource

from evalgate.cli.command_line import cli
from tests.pages import PAGES, ROOT, coded, rows

PAGE = PAGES["docs/json.md"]
_LINK = re.compile(r"\]\(schemas/([a-z-]+)\.schema\.json\)")
#: Every schema by its name.
SCHEMAS: dict[str, Any] = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in sorted((ROOT / "docs/schemas").iterdir())
}
#: The schemas that the page names for each command.
OF_COMMAND: dict[str, list[str]] = {
    command.removeprefix("evalgate "): _LINK.findall(schemas)
    for commands, schemas, *_ in rows("# Documents for programs", "\n" + PAGE)
    for command in coded(commands)
}


def verbs(group: click.Group = cli, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Return every command that is no group, by its words."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def hold(value: object, name: str) -> None:
    """Assert that a document is one of a schema."""
    found = best_match(_validator(name).iter_errors(value))
    assert found is None, f"{name}: {found.json_path}: {found.message:.400}"


def hold_answer(arguments: Sequence[str], printed: str) -> None:
    """Assert that what a command printed with ``--json`` is one of the documents told of it."""
    if "--json" not in arguments or not printed.startswith("{"):
        return
    value = json.loads(printed)
    if value.keys() == {"error"}:
        hold(value, "error")
        return
    command = named(arguments)
    if command == "report":
        hold(value, "report" if "run" in value else "report-file")
    else:
        assert command in OF_COMMAND, f"{command} has no schema"
        hold(value, OF_COMMAND[command][0])


def hold_verdict(file: Path) -> None:
    """Assert that a verdict that was written, if one was, is one."""
    if file.is_file():
        hold(json.loads(file.read_text()), "verdict")


def named(arguments: Sequence[str]) -> str:
    """Return the command that the words call; an option's value before it is no part of it."""
    group: click.Command = cli
    words, names = iter(arguments), list[str]()
    while isinstance(group, click.Group):
        word = next(words, "")
        if not word.startswith("-"):
            assert word in group.commands, f"{[*arguments]} calls no command"
            group = group.commands[word]
            names.append(word)
        elif any(word in one.opts and not getattr(one, "is_flag", True) for one in group.params):
            next(words, "")
    return " ".join(names)


@cache
def _validator(name: str) -> Draft202012Validator:
    files = [(f"{one}.schema.json", Resource.from_contents(SCHEMAS[one])) for one in SCHEMAS]
    return Draft202012Validator(
        {"$ref": f"{name}.schema.json"}, registry=Registry().with_resources(files)
    )

"""Tasks in JSON: a prompt, files and commands to begin with, and a list of criteria.

{"id": …, "prompt": …, "setup": {"files": {"a.py": …}, "commands": […]},
 "successCriteria": [{"type": "file_exists", "description": …, "params": {"path": "a.py"}}],
 "timeoutMs": 120000, "maxTurns": 15}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalgate.core.files import File, Tree, shadowed
from evalgate.core.limits import MOST_SECONDS, MOST_TURNS
from evalgate.core.schema import Reader
from evalgate.errors import UsageError
from evalgate.tasks.draft import Draft, place_in, read_id, read_instruction, read_path, require_path
from evalgate.tasks.marked import json_readers
from evalgate.tasks.marks import IN_PLACE

MARK: Final = IN_PLACE["criteria"]


def read_criteria(path: str, files: Tree) -> tuple[Draft, ...]:
    """Read the tasks of a JSON file: the one there is, or the ``task.json`` of a folder."""
    name = MARK if MARK in files else min(files)
    for other in sorted(files):
        if other != name and not other.casefold().startswith("readme"):
            hint = "setup.files of the JSON is what a task begins with"
            raise UsageError(f"{path}/{other}: nothing reads this", hint=hint)
    full = place_in(path, name)
    stem = full.removesuffix(f"/{MARK}").rpartition("/")[2].removesuffix(".json")
    return tuple(_draft(table, stem=stem) for table in json_readers(full, files[name].data))


def _draft(table: Reader, *, stem: str) -> Draft:
    for ignored in ("name", "description", "category", "difficulty"):
        table.text(ignored, "")
    set_up = table.table("setup")
    tags = table.texts("tags", [])
    milliseconds = table.some_number("timeoutMs", low=100, high=MOST_SECONDS * 1000)
    draft = Draft(
        id=read_id(table, "id", stem),
        instruction=read_instruction(table, "prompt"),
        workspace=_files(set_up),
        agent_seconds=None if milliseconds is None else milliseconds / 1000,
        settings={
            "max_turns": table.some_integer("maxTurns", low=1, high=MOST_TURNS),
            "tags": list(tags),
            "expected_files": list(table.texts("expectedFiles", [])),
            "setup": _set_up(set_up),
            "checks": [check for one in table.tables("successCriteria") for check in _checks(one)],
        },
    )
    set_up.done()
    table.done()
    if not draft.settings["checks"]:
        hint = "without one, anything would pass"
        raise table.error("must hold a criterion", "successCriteria", hint=hint)
    return draft


def _files(set_up: Reader) -> dict[str, File]:
    """Read files as ``{path: content}``, or as a list of ``{path, content}``."""
    found = _listed(set_up) if isinstance(set_up.raw.get("files"), list) else _named(set_up)
    if problem := shadowed(found):
        raise set_up.error(problem, "files", hint="a name is a file or a folder")
    return found


def _named(set_up: Reader) -> dict[str, File]:
    found: dict[str, File] = {}
    table = set_up.table("files")
    for path in table.keys():  # noqa: SIM118 - a reader notes what it was asked for
        require_path(table, path, path)
        found[path] = File(data=table.text(path).encode())
    return found


def _listed(set_up: Reader) -> dict[str, File]:
    found: dict[str, File] = {}
    for one in set_up.tables("files"):
        path = read_path(one, "path")
        if path in found:
            raise one.error(f"{path!r} stands there twice", "path", hint="give it one content")
        found[path] = File(data=one.text("content").encode())
        one.done()
    return found


def _set_up(table: Reader) -> dict[str, Any]:
    """Read the commands: in this format they install, so they ask for the network."""
    commands, network = table.texts("commands", []), table.flag("network", default=True)
    if not commands:
        return {}
    return {"commands": list(commands), "network": network}


def _checks(table: Reader) -> list[dict[str, Any]]:
    kind = table.choice("type", "", tuple(_KINDS))
    table.text("description", "")
    params = table.table("params")
    found = _KINDS[kind](params)
    params.done()
    table.done()
    return found


def _of_path(kind: str) -> Callable[[Reader], list[dict[str, Any]]]:
    return lambda params: [{"type": kind, "path": read_path(params, "path")}]


def _contains(params: Reader) -> list[dict[str, Any]]:
    """Read a pattern, or a text that stands there word for word."""
    pattern = re.escape(params.text("text")) if params.has("text") else params.text("pattern")
    return [{"type": "file_contains", "path": read_path(params, "path"), "pattern": pattern}]


def _succeeds(params: Reader) -> list[dict[str, Any]]:
    return [{"type": "command_succeeds", "command": params.text("command")}]


def _no_errors(params: Reader) -> list[dict[str, Any]]:
    """Read a command, which must succeed and tell of no error; without one the answer is read."""
    if not params.has("command"):
        return [{"type": "no_errors_in_output"}]
    command = params.text("command")
    return [*_succeeds(params), {"type": "no_errors_in_output", "command": command}]


#: Every type of criterion, and the checks of ours that its parameters make.
_KINDS: Final[Mapping[str, Callable[[Reader], list[dict[str, Any]]]]] = {
    "command_succeeds": _succeeds,
    "file_contains": _contains,
    "file_exists": _of_path("file_exists"),
    "file_unchanged": _of_path("file_unchanged"),
    "no_errors": _no_errors,
}

"""Golden lists in Python: tables of id, prompt and what must come out, read and never executed.

TASKS = [
    {"id": "add", "prompt": "What is 3 + 4?", "expected_output": "7", "max_tool_calls": 2},
]
"""

from __future__ import annotations

from typing import Any

from evalgate.core.files import File, Tree
from evalgate.core.limits import MOST_TOOL_CALLS, MOST_TURNS
from evalgate.core.schema import Reader
from evalgate.core.task import SOLUTION_ANSWER
from evalgate.errors import UsageError
from evalgate.tasks.draft import Draft, place_in, read_id, read_instruction
from evalgate.tasks.marked import python_readers


def read_golden(path: str, files: Tree) -> tuple[Draft, ...]:
    """Read the tasks of the Python files of a folder."""
    drafts: list[Draft] = []
    for name, file in sorted(files.items()):
        full = place_in(path, name)
        found = [_draft(table) for table in python_readers(full, file.data)]
        if not found:
            hint = "a list of tables with id and prompt is assigned to a name"
            raise UsageError(f"{full}: there is no list of tasks", hint=hint)
        drafts += found
    return tuple(drafts)


def _draft(table: Reader) -> Draft:
    table.text("description", "")
    output = _output(table)
    # What must come out is known, and so is an answer that is right.
    answer = "".join(f"{check['expected']}\n" for check in output)
    draft = Draft(
        id=read_id(table, "id"),
        instruction=read_instruction(table, "prompt"),
        solution={SOLUTION_ANSWER: File(data=answer.encode())} if answer else {},
        settings={
            "max_turns": table.some_integer("max_turns", low=1, high=MOST_TURNS),
            "max_tool_calls": table.some_integer("max_tool_calls", high=MOST_TOOL_CALLS),
            "tags": list(table.texts("tags", [])),
            "expected_files": list(table.texts("expected_files", [])),
            "checks": [*_named(table), *output],
        },
    )
    table.done()
    if not draft.settings["checks"]:
        hint = "name checks, or an expected_output: without one anything would pass"
        raise table.error("nothing says what is right", "checks", hint=hint)
    return draft


def _named(table: Reader) -> list[dict[str, Any]]:
    """Read checks by name, or as tables in our own words."""
    value = table.raw.get("checks", [])
    table.keys_seen("checks")
    if not isinstance(value, list | tuple):
        raise table.error("must be a list of names or tables", "checks")
    found: list[dict[str, Any]] = []
    for one in value:
        check = {"type": one} if isinstance(one, str) else one
        keys = isinstance(check, dict) and all(isinstance(key, str) for key in check)
        if not keys or not isinstance(check.get("type"), str) or not is_toml(check):
            raise table.error(f"{str(one)[:60]} is no check", "checks")
        found.append(check)
    return found


def _output(table: Reader) -> list[dict[str, Any]]:
    if not table.has("expected_output"):
        return []
    value = table.raw["expected_output"]
    table.keys_seen("expected_output")
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise table.error("must be a text or a number", "expected_output")
    if isinstance(value, int) and not is_toml(value):
        raise table.error("is an enormous number", "expected_output")
    match = "token" if isinstance(value, str) else "number"
    return [{"type": "expected_output", "expected": str(value), "match": match}]


def is_toml(value: Any) -> bool:
    """Tell whether a literal is one of TOML's: it knows neither None nor sets, bytes or complex."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_toml(one) for key, one in value.items())
    if isinstance(value, list | tuple):
        return all(map(is_toml, value))
    return isinstance(value, str | bool | float) or (
        isinstance(value, int) and abs(value) < 1 << 63
    )

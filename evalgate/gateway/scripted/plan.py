"""A plan: what a scripted model says to each task, turn by turn.

```toml
format = 1

[[task]]
id = "add-subtracts"             # or "*": every task that has no plan of its own

[[task.reply]]
text = "I look at the file first."

[[task.reply.call]]
name = "read_file"
input = { path = "add.py" }

[[task.reply]]
text = "Done."
```

The n-th reply answers the n-th turn of a conversation. Whoever asks on after the last one is
told that the plan is at its end, without a tool call, so that an agent stops and does not loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.json import JsonObject
from evalgate.core.schema import Reader, Source

#: Version of the file format.
FORMAT: Final = 1

#: The id of the plan for every task that has none of its own.
ANY: Final = "*"

_HINT = "a plan is [[task]] tables with [[task.reply]] tables in them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of a reply."""

    name: str
    input: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One reply: text, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


END: Final = Said(text="The plan is at its end.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The replies to each task id, in order; ``name`` is the file's."""

    name: str
    tasks: Mapping[str, Sequence[Said]]

    def covers(self, task: str) -> bool:
        """Tell whether there is a reply for a task."""
        return task in self.tasks or ANY in self.tasks

    def said(self, task: str, turn: int) -> Said | None:
        """Return the reply to a turn (from 0), None for a task that is not in the plan."""
        replies = self.tasks.get(task, self.tasks.get(ANY))
        if replies is None:
            return None
        return replies[turn] if turn < len(replies) else END


def load_plan(source: Source) -> Plan:
    """Read a plan; UsageError names file, line and key of what is wrong."""
    top = Reader(source.parse(), source)
    version = top.integer("format", low=1) if top.has("format") else 0
    if not version:
        raise top.error("'format' is missing", hint=f"a plan begins with format = {FORMAT}")
    if version > FORMAT:
        problem = f"{version} is newer than this evalgate knows"
        raise top.error(problem, "format", hint="upgrade git-evalgate")
    tasks: dict[str, tuple[Said, ...]] = {}
    seen: list[tuple[str, ...]] = []
    for table in _tables(top, "task", seen):
        name = _needed(table, "id")
        if name in tasks:
            raise table.error(f"{name!r} has a plan already", "id", hint=_HINT)
        tasks[name] = tuple(_said(reply, seen) for reply in _tables(table, "reply", seen))
        if not tasks[name]:
            raise table.error("has no reply", hint=_HINT)
        table.done()
    top.done()
    if not tasks:
        raise top.error("plans nothing", hint=_HINT)
    return Plan(name=source.name, tasks=tasks)


def _said(table: Reader, seen: list[tuple[str, ...]]) -> Said:
    said = Said(
        text=table.text("text", ""),
        calls=tuple(_call(call) for call in _tables(table, "call", seen)),
    )
    table.done()
    if not said.text and not said.calls:
        raise table.error("says nothing", hint="give it a text, or [[task.reply.call]] tables")
    return said


def _call(table: Reader) -> Call:
    name = _needed(table, "name")
    written = table.raw.get("input", {})
    if not isinstance(written, Mapping) or not _is_json(written):
        raise table.error("must be a table of what JSON knows", "input", hint=_HINT)
    call = Call(name=name, input=table.json("input"))
    table.done()
    return call


def _tables(outer: Reader, key: str, seen: list[tuple[str, ...]]) -> Iterator[Reader]:
    """Yield a list's tables so that their errors name the right line.

    A place is found by counting the headers before it, of this list and of those it lies in:
    ``seen`` holds the path of each, in the order of the file.
    """
    written = outer.raw.get(key, [])
    if not isinstance(written, list) or not all(isinstance(one, Mapping) for one in written):
        raise outer.error(f"{key!r} must be a list of tables", hint=_HINT)
    for inner in outer.tables(key):
        path = inner.path
        nth = sum(one == path[: len(one)] for one in seen)
        seen.append(path)
        yield Reader(inner.raw, inner.source, path, nth=nth)


def _needed(table: Reader, key: str) -> str:
    if not table.has(key):
        raise table.error(f"{key!r} is missing", hint=_HINT)
    value = table.text(key)
    if not value:
        raise table.error("can not be empty", key, hint=_HINT)
    return value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # a date, a NaN
        return False
    return True

"""How large a part of a harness is: its tokens, by a rough count, and its tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evalgate.core.json import Json

#: Bytes of UTF-8 that are counted as one token. Every model has a count of its own; this one is
#: the same for all, needs none of them, and shows by how much a text grew.
_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSize:
    """Tokens at four bytes each, and how many tools the part's JSON files describe."""

    tokens: int
    tools: int

    @classmethod
    def of(cls, files: Iterable[bytes]) -> PartSize:
        """Measure the files of a part."""
        all_files = list(files)
        bytes_ = sum(map(len, all_files))
        return cls(tokens=-(-bytes_ // _BYTES), tools=sum(map(_tools, all_files)))


def size_change(before: PartSize, after: PartSize) -> str:
    """Say how a part's size changed, for a person."""
    if before.tokens == after.tokens:
        said = f"about {after.tokens} tokens (four bytes each) as before"
    else:
        said = f"about {before.tokens} → {after.tokens} tokens (four bytes each)"
    if before.tools or after.tools:
        said += f", {before.tools} → {after.tools} tools"
    return said


def size_json(before: PartSize, after: PartSize) -> dict[str, Json]:
    """Return the form in ``verdict.json``; the count is named with it."""
    return {
        "tokens": [before.tokens, after.tokens],
        "counted_as": f"{_BYTES} bytes a token",
        "tools": [before.tools, after.tools],
    }


def _tools(data: bytes) -> int:
    """Count the tools in one file: a list of them, one alone, or a list under ``tools``."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return 0
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        value = value["tools"]
    return sum(map(_is_tool, value if isinstance(value, list) else [value]))


def _is_tool(value: object) -> bool:
    # The shapes of the four APIs: a name beside a schema, or a function inside.
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("function"), Mapping):
        return True
    return "name" in value and bool({"description", "input_schema", "parameters"} & value.keys())

"""One thing that is wrong with a task, by the rule that it breaks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from evalgate.core.json import Json
from evalgate.core.schema import Source
from evalgate.tasks.suite import Folder

_PLACE = re.compile(r"(?P<file>[^\n]*?):(?:(?P<line>[0-9]+):)? (?P<words>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Where something is wrong, and what; line 0 is the whole file."""

    file: str
    words: str
    line: int = 0
    hint: str = ""

    @property
    def place(self) -> str:
        """``file:line``, or the file alone; in one line, whatever it is called."""
        file = self.file if self.file.isprintable() else json.dumps(self.file)
        return f"{file}:{self.line}" if self.line else file

    def to_json(self, rule: str) -> dict[str, Json]:
        """Return the JSON form."""
        return {"rule": rule, "file": self.file, "line": self.line, "problem": self.words}


def told(message: str, folder: str, *, hint: str = "") -> Problem:
    """Return what an error's message says, whose place stands before its words or nowhere."""
    found = _PLACE.fullmatch(message.removeprefix(folder))
    if found is None or not message.startswith(folder):
        return Problem(file=folder, words=message, hint=hint)
    file, line = f"{folder}{found['file']}", int(found["line"] or 0)
    return Problem(file=file, line=line, words=found["words"], hint=hint)


def at_key(folder: Folder, *key: str) -> tuple[str, int]:
    """Return file and line of a key of ``task.toml``; 0 when it is not found, or not ours."""
    if folder.format:
        return folder.path, 0
    name = f"{folder.path}/task.toml"
    file = folder.files.get("task.toml")
    text = "" if file is None else file.data.decode("utf-8", "replace")
    line = Source("", text).place(key).removeprefix(":")
    return name, int(line or 0)

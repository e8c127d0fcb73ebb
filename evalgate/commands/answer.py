"""What a command that looks at things answers: to a person, to a program, as an exit code."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.core.json import JsonObject
from evalgate.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``text`` is for stdout, ``value`` the document of ``--json``."""

    text: str
    value: JsonObject
    code: ExitCode = ExitCode.OK


def bytes_text(count: int) -> str:
    """Return a number of bytes as people read it."""
    if count < 1 << 10:
        return f"{count} B"
    return f"{count / (1 << 10):.1f} kB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MB"

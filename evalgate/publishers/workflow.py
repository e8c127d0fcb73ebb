"""What a step of a workflow tells by files and lines: summary, annotations, outputs."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evalgate.core.outline import Outline
from evalgate.core.plain import plain
from evalgate.errors import ExitCode
from evalgate.protocols import Telling, Told

#: A summary beyond this is refused whole, and the step stays green.
SUMMARY_LIMIT: Final = 1024 * 1024
#: GitHub shows ten of a kind a step, and drops the rest in silence.
MOST: Final = 10

#: Tasks that did worse, by what verdict.json calls it.
_WORSE: Final = {"regressed": "error", "fell": "warning", "not measured": "warning"}
_ERRORS: Final = {ExitCode.REGRESSION, ExitCode.VOID}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Appends the page to the job's summary, within what GitHub takes of a step."""

    path: Path

    def publish(self, telling: Telling) -> Told:
        """Append it; what does not fit is left out, as in a comment."""
        there = self.path.stat().st_size if self.path.exists() else 0
        room = SUMMARY_LIMIT - there - len("\n\n")
        page = telling.page(room) if room > 0 else ""
        if not page:
            return Told(where="summary", done="nothing", detail="the step's summary is full")
        _append(self.path, f"{page.rstrip()}\n\n")
        return Told(where="summary", done="written")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """Says up to ten lines that GitHub shows beside the run: the verdict, and what did worse."""

    say: Callable[[str], None]

    def publish(self, telling: Telling) -> Told:
        """Say them as workflow commands."""
        lines = annotations_of(telling.outline)
        for line in lines:
            self.say(line)
        return Told(where="annotations", done=f"{len(lines)} written")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Sets the outputs of the step: ``decision``, ``exit-code``, ``evidence``, ``sentence``."""

    path: Path

    def publish(self, telling: Telling) -> Told:
        """Append them; a delimiter nobody knows before keeps a value from setting others."""
        outline = telling.outline
        values = {
            "decision": str(outline.decision),
            "exit-code": str(int(outline.exit_code)),
            "evidence": outline.evidence,
            "sentence": outline.sentence,
        }
        _append(self.path, "".join(_output(name, value) for name, value in values.items()))
        return Told(where="outputs", done="written")


def annotations_of(outline: Outline) -> list[str]:
    """Return the workflow commands for a verdict: the decision first, then tasks, ten at most."""
    level = "error" if outline.exit_code in _ERRORS else "warning"
    level = level if outline.exit_code else "notice"
    said = [command(level, f"evalgate: {outline.decision}", outline.sentence)]
    worse = [task for task in outline.tasks if task.change in _WORSE]
    room = MOST - len(said)
    shown = worse if len(worse) <= room else worse[: room - 1]
    said += [command(_WORSE[one.change], f"evalgate: {one.task}", one.sentence) for one in shown]
    if len(shown) < len(worse):
        more = f"{len(worse) - len(shown)} more tasks did worse: they are in the verdict"
        said.append(command("warning", "evalgate", more))
    return said


def command(level: str, title: str, text: str) -> str:
    """Return a workflow command whose words can be no other command."""
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escaped(text)}"


def _escaped(text: str) -> str:
    clean = plain(text).encode("utf-8", "replace").decode()
    return clean.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _output(name: str, value: str) -> str:
    end = f"evalgate_{secrets.token_hex(16)}"
    return f"{name}<<{end}\n{plain(value)}\n{end}\n"


def _append(path: Path, text: str) -> None:
    with path.open("ab") as file:
        file.write(text.encode("utf-8", "replace"))

"""`evalgate ledger`: every experiment that was committed, in the order of its day."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.console import Console
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tables import render_rows
from evalgate.core.json import Json
from evalgate.core.rates import percent
from evalgate.core.short_name import short_of
from evalgate.errors import ExitCode
from evalgate.report.markdown import escape
from evalgate.store.ledger import Entry, read_ledger

_HEAD = (
    "date",
    "harness",
    "decision",
    "passed",
    "parts changed",
    "hypothesis",
    "evidence",
    "reason",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The entries, oldest first, as a table for a terminal or for a page.

    ``problems`` name the files that are none.
    """

    entries: tuple[Entry, ...]
    markdown: bool
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Usage when a file is no entry."""
        return ExitCode.USAGE if self.problems else ExitCode.OK

    @property
    def text(self) -> str:
        """The table."""
        if not self.entries:
            return "there is no experiment yet: evalgate baseline accept writes one"
        rows = [
            (
                one.date,
                short_of(one.fingerprint),
                one.decision,
                f"{one.passed}/{one.measured} ({percent(one.passed, one.measured)})",
                ", ".join(one.changed),
                one.hypothesis,
                one.evidence,
                one.reason,
            )
            for one in self.entries
        ]
        if not self.markdown:
            return render_rows([_HEAD, *rows])
        lines = [_HEAD, ("---",) * len(_HEAD), *([escape(cell) for cell in row] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "experiments": [one.to_json() for one in self.entries],
            "problems": list(self.problems),
        }


def ledger(project: Project, console: Console, *, rev: str | None, markdown: bool) -> Ledger:
    """Read the ledger of a state; what can not be read is warned of, and all else listed."""
    with open_state(project, subject_of(rev)) as state:
        files = state.view.read_prefix(project.within("baselines/ledger"))
    entries, errors = read_ledger(files)
    for error in errors:
        console.warn(f"{error.message} ({error.hint})")
    problems = tuple(error.message for error in errors)
    return Ledger(entries=entries, markdown=markdown, problems=problems)

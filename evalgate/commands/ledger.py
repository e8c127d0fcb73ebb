"""`evalgate ledger`: every experiment that was committed, in the order of its day."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.tables import render_rows
from evalgate.core.json import Json
from evalgate.core.rates import percent
from evalgate.core.short_name import short_of
from evalgate.report.markdown import escape
from evalgate.store.ledger import Entry, load_ledger

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
    """The entries, oldest first, as a table for a terminal or for a page."""

    entries: tuple[Entry, ...]
    markdown: bool

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
        return {"experiments": [one.to_json() for one in self.entries]}


def ledger(project: Project, *, rev: str | None, markdown: bool) -> Ledger:
    """Read the ledger of a state."""
    with open_state(project, subject_of(rev)) as state:
        files = state.view.read_prefix(project.within("baselines/ledger"))
    return Ledger(entries=load_ledger(files), markdown=markdown)

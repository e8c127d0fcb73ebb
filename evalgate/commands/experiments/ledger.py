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
from evalgate.store.ledger import FOLDER, Entry, read_ledger
from evalgate.store.skips import Skip, load_skips

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

    ``problems`` name the files that are none; ``skips`` are the pushes that went unjudged from
    this clone.
    """

    entries: tuple[Entry, ...]
    markdown: bool
    problems: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Usage when a file is no entry."""
        return ExitCode.USAGE if self.problems else ExitCode.OK

    @property
    def text(self) -> str:
        """The table; for a terminal also the pushes that were skipped."""
        skipped = "" if self.markdown else "".join(map(_told, self.skips))
        return self._table + skipped

    @property
    def _table(self) -> str:
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
            "skipped": [one.to_json() for one in self.skips],
        }


def _told(skip: Skip) -> str:
    heads = f"{skip.base[:12]}..{skip.head[:12]}"
    return f"\n{skip.date}: pushed unjudged from here: {skip.ref} ({heads}): {skip.reason}"


def ledger(project: Project, console: Console, *, rev: str | None, markdown: bool) -> Ledger:
    """Read the ledger of a state; what can not be read is warned of, and all else listed."""
    with open_state(project, subject_of(rev)) as state:
        files = state.view.read_prefix(project.within(FOLDER))
    entries, errors = read_ledger(files)
    for error in errors:
        console.warn(f"{error.message} ({error.hint})")
    problems = tuple(error.message for error in errors)
    skips = load_skips(project.state)
    return Ledger(entries=entries, markdown=markdown, problems=problems, skips=skips)

"""The verdict in short, from nothing but what `verdict.json` says: every word of it is escaped."""

from __future__ import annotations

from evalgate.core.outline import Outline
from evalgate.report.markdown import escape
from evalgate.report.verdict import ALERTS

#: Rows of the table of tasks.
_ROWS = 20


def render_brief(outline: Outline, *, said_by: str = "") -> str:
    """Render decision, reasons and the tasks that moved; ``said_by`` tells whose word it is."""
    lines = [
        f"> [!{ALERTS.get(outline.decision, 'WARNING')}]",
        f"> **{str(outline.decision).capitalize()}.** {escape(outline.sentence)}",
    ]
    if outline.evidence:
        lines += ["", f"Evidence: **{escape(outline.evidence)}**."]
    if outline.reasons:
        lines += ["", *(f"- {escape(reason)}" for reason in outline.reasons)]
    moved = outline.moved
    if moved:
        lines += ["", "| task | | base | head | checks |", "|---|---|---:|---:|---|"]
        cells = ((one.task, one.change, one.base, one.head, one.why) for one in moved[:_ROWS])
        lines += [f"| {' | '.join(map(escape, row))} |" for row in cells]
    if len(moved) > _ROWS:
        lines += ["", f"… and {len(moved) - _ROWS} more."]
    if said_by:
        lines += ["", said_by]
    return "\n".join(lines) + "\n"

"""The verdict in short, from nothing but what `verdict.json` says: every word of it is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.core.outline import Outline
from evalgate.report.headlines import alert_of, headline_of
from evalgate.report.markdown import code, escape, fence

#: Rows of the table of tasks.
_ROWS = 20


def render_brief(outline: Outline, *, steps: Sequence[str] = (), said_by: str = "") -> str:
    """Render decision, reasons and the tasks that moved.

    ``steps`` are commands to go on with, of our own; ``said_by`` tells whose word the rest is.
    """
    lines = [
        f"> [!{alert_of(outline)}]",
        f"> **{headline_of(outline)}.** {escape(outline.sentence)}",
    ]
    if outline.evidence:
        lines += ["", f"Evidence: **{escape(outline.evidence)}**."]
    if outline.reasons:
        lines += ["", *(f"- {escape(reason)}" for reason in outline.reasons)]
    moved = outline.moved
    if moved:
        lines += ["", "| task | | base | head | checks |", "|---|---|---:|---:|---|"]
        lines += [
            f"| {code(one.task)} | {escape(one.change)} | {escape(one.base)} | {escape(one.head)} "
            f"| {escape(one.why)} |"
            for one in moved[:_ROWS]
        ]
    if len(moved) > _ROWS:
        lines += ["", f"… and {len(moved) - _ROWS} more."]
    if steps:
        lines += ["", "### Next", "", fence("\n".join(steps), "sh")]
    if said_by:
        lines += ["", said_by]
    return "\n".join(lines) + "\n"

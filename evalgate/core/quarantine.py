"""Quarantine: a task that is run and shown and decides nothing, with who cares and until when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from evalgate.core.json import Json
from evalgate.core.schema import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """One task in quarantine; ``review`` is the day by which its owner looks at it again."""

    task: str
    owner: str
    reason: str
    review: date

    def sentence(self, *, today: date, tasks: Collection[str]) -> str:
        """Say it, for a person; ``tasks`` are the ids of the suite."""
        said = f"in quarantine, decides nothing: {self.task} ({self.reason}; owner {self.owner}, "
        said += f"review by {self.review})"
        if today > self.review:
            said += f": THE REVIEW IS OVERDUE by {(today - self.review).days} days"
        return said if self.task in tasks else f"{said}: the suite has no such task"

    def to_json(self, *, today: date) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        return {
            "task": self.task,
            "owner": self.owner,
            "reason": self.reason,
            "review": self.review.isoformat(),
            "overdue": today > self.review,
        }


def read_quarantine(table: Reader) -> tuple[Quarantine, ...]:
    """Read ``[policy.quarantine]``: a table for each task, named by its id.

    Raises:
        UsageError: an owner, a reason or a date of review is missing.
    """
    return tuple(_one(task, table.table(task)) for task in table.keys())  # noqa: SIM118


def added(old: Sequence[Quarantine], new: Sequence[Quarantine]) -> tuple[str, ...]:
    """Return the tasks that a change puts into quarantine."""
    before = {one.task for one in old}
    return tuple(sorted(one.task for one in new if one.task not in before))


def _one(task: str, table: Reader) -> Quarantine:
    found = Quarantine(
        task=task,
        owner=table.text("owner"),
        reason=table.text("reason"),
        review=table.day("review"),
    )
    for key in ("owner", "reason"):
        if not getattr(found, key).strip():
            raise table.error("is empty", key, hint="say who looks at it, and why it is there")
    table.done()
    return found

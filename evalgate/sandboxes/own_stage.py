"""Stages that are no trial's: what evalgate does in a sandbox before there is one."""

from __future__ import annotations

from evalgate.errors import NotAvailableError
from evalgate.protocols import StageResult, StageStatus

_LINES = 4


def require_done(result: StageResult, what: str) -> None:
    """Make sure that a stage of our own did what it was for.

    Raises:
        NotAvailableError: it did not come to a good end; its last words are the hint.
    """
    if result.status is StageStatus.EXITED and result.exit_code == 0:
        return
    how = f"with {result.status}"
    if result.status is StageStatus.EXITED:
        how = f"with exit code {result.exit_code}"
    said = result.log.decode("utf-8", "replace").strip().splitlines()
    raise NotAvailableError(
        f"{what} ended {how} {result.detail}".rstrip(),
        hint="; ".join(line.strip() for line in said[-_LINES:]) or "it said nothing",
    )

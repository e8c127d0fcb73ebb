"""The findings that checks give: passed, or with a line that says why not."""

from __future__ import annotations

from typing import Final

from evalgate.core.trial import Outcome
from evalgate.protocols import Finding

PASSED: Final = Finding(outcome=Outcome.PASSED)


def failed(detail: str) -> Finding:
    """Measured, and wrong."""
    return Finding(outcome=Outcome.FAILED, detail=detail)


def errored(detail: str) -> Finding:
    """Not measured."""
    return Finding(outcome=Outcome.ERRORED, detail=detail)

"""The words a gate can end with, and the exit code of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from evalgate.errors import ExitCode


class Decision(StrEnum):
    """How a gate ends."""

    NOTHING_TO_JUDGE = "nothing to judge"
    PASS = "pass"  # noqa: S105 - a decision, not a password
    IMPROVED = "improved"
    WAIVED = "waived"
    NOT_CONFIRMED = "suspect, not confirmed"
    UNDECIDED = "undecided"
    REGRESSION = "regression"
    NO_BASELINE = "no baseline"
    MOVED = "baseline moved"
    NOT_MEASURED = "not measured"
    NOTHING_RAN = "nothing ran"
    VOID = "void"
    STALE = "stale"
    BUDGET = "budget reached"


#: Which of several exit codes is told: what stopped everything first, a pass last.
_PRECEDENCE = (130, 70, 2, 9, 8, 6, 7, 5, 3, 4, 1, 0)

EXIT_CODES: Mapping[Decision, ExitCode] = {
    Decision.NOTHING_TO_JUDGE: ExitCode.OK,
    Decision.PASS: ExitCode.OK,
    Decision.IMPROVED: ExitCode.OK,
    Decision.WAIVED: ExitCode.OK,
    Decision.NOT_CONFIRMED: ExitCode.OK,
    Decision.UNDECIDED: ExitCode.OK,
    Decision.REGRESSION: ExitCode.REGRESSION,
    Decision.NO_BASELINE: ExitCode.NO_BASELINE,
    Decision.MOVED: ExitCode.NO_BASELINE,
    Decision.NOT_MEASURED: ExitCode.NOT_MEASURED,
    Decision.NOTHING_RAN: ExitCode.NOTHING_RAN,
    Decision.VOID: ExitCode.VOID,
    Decision.STALE: ExitCode.DIVERGED,
    Decision.BUDGET: ExitCode.BUDGET,
}


def is_wanting(decision: Decision, *, strict: bool) -> bool:
    """Tell whether a decision is no answer where one is asked for."""
    return strict and decision is Decision.UNDECIDED


def is_waiting(decision: Decision, *, fork: bool) -> bool:
    """Tell whether only a maintainer can go on: a fork's evidence is not enough, or is none."""
    return fork and decision is Decision.STALE


def exit_code_of(decision: Decision, *, strict: bool) -> ExitCode:
    """Return the exit code of a decision; ``strict`` takes undecided for not measured."""
    return ExitCode.NOT_MEASURED if is_wanting(decision, strict=strict) else EXIT_CODES[decision]


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code that is told when several hold; none at all is a pass."""
    return min(codes, key=_PRECEDENCE.index, default=ExitCode.OK)

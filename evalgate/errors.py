"""What can go wrong in a planned way, and the exit code of each.

EvalgateError                 a message for a person, a hint, an exit code
├── UsageError            2   command line, configuration, task or recorded file
│   └── NoConfigurationError  a state from before evalgate was adopted
├── NothingRanError       5   no task selected or collected
├── DivergedError         7   a replay asked for something that was not recorded
├── BudgetReachedError    8   money or trials used up; resumable
├── NotAvailableError     9   sandbox, engine, model or agent program missing
└── InterruptedRunError 130   Ctrl-C or SIGTERM; resumable
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Every exit code of the command line."""

    OK = 0
    REGRESSION = 1
    USAGE = 2
    NO_BASELINE = 3
    NOT_MEASURED = 4
    NOTHING_RAN = 5
    VOID = 6
    DIVERGED = 7
    BUDGET = 8
    NOT_AVAILABLE = 9
    INTERNAL = 70
    INTERRUPTED = 130


class EvalgateError(Exception):
    """A failure that a person can mend: one message, one hint, one exit code."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(EvalgateError):
    """The command line, the configuration, a task or a recorded file is wrong."""

    exit_code = ExitCode.USAGE


class NoConfigurationError(UsageError):
    """There is no configuration here: evalgate is not adopted in this state."""


class NothingRanError(EvalgateError):
    """No task was selected or collected, so nothing can be said."""

    exit_code = ExitCode.NOTHING_RAN


class DivergedError(EvalgateError):
    """A replay asked for something that was not recorded."""

    exit_code = ExitCode.DIVERGED


class BudgetReachedError(EvalgateError):
    """The money of a run is used up; the same command resumes it."""

    exit_code = ExitCode.BUDGET


class NotAvailableError(EvalgateError):
    """A sandbox, engine, model or agent program that is needed is not there."""

    exit_code = ExitCode.NOT_AVAILABLE


class InterruptedRunError(EvalgateError):
    """Ctrl-C or SIGTERM; finished trials are kept and the same command resumes."""

    exit_code = ExitCode.INTERRUPTED


def from_os_error(error: OSError) -> EvalgateError:
    """Put an error of the operating system in words: a path that is wrong, or no room left."""
    place = "" if error.filename is None else f"{error.filename}: "
    message = f"{place}{error.strerror or error}"
    wrong = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError)
    if isinstance(error, (*wrong, PermissionError)):
        return UsageError(message, hint="look at that path and its rights")
    return NotAvailableError(message, hint="the system refused it: is there room left?")

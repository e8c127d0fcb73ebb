"""Ctrl-C and SIGTERM: the first ends a command in order, the second at once, others do nothing."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from evalgate.errors import EvalgateError, InterruptedRunError

_HINT = "the same command goes on where trials were kept, else it begins anew"


def interrupted(error: BaseException) -> EvalgateError:
    """Return the words for an interruption: those of the run it ended, where one has spoken."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, InterruptedRunError):
        found = found.__context__
    return found or InterruptedRunError("interrupted", hint=_HINT)


class Interruptions:
    """A handler of signals; ``over`` says that the command has ended, and nothing is left to stop.

    The first signal raises KeyboardInterrupt: trials are stopped and what is finished is kept.
    """

    def __init__(self, say: Callable[[EvalgateError], None]) -> None:
        """``say`` tells of the second interruption."""
        self.over = False
        self._say = say
        self._count = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        if self.over:
            return
        self._count += 1
        if self._count == 1:
            raise KeyboardInterrupt
        if self._count == 2:  # noqa: PLR2004 - the second one
            self._leave()

    def _leave(self) -> NoReturn:
        """End the process, with all that works for it."""
        try:
            self._tell()
            # Where no sandbox was ever made, there is nothing to end.
            leftovers = sys.modules.get("evalgate.sandboxes.leftovers")
            if leftovers is not None:
                leftovers.remove_own_rooms()
        finally:
            os._exit(int(InterruptedRunError.exit_code))

    def _tell(self) -> None:
        error = InterruptedRunError("interrupted twice: ended at once", hint=_HINT)
        with contextlib.suppress(OSError, ValueError):
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # a bar hides the cursor
        # Whoever was interrupted may be in the middle of writing to the usual streams.
        with (
            contextlib.suppress(OSError, ValueError),
            open(1, "w", closefd=False) as sys.stdout,
            open(2, "w", closefd=False) as sys.stderr,
        ):
            self._say(error)

"""The control: the same grading on files known to be good, to tell whose fault a trouble is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from evalgate.core.trial import Outcome
from evalgate.protocols import StageStatus
from evalgate.runner.grade_stage import Graded
from evalgate.runner.hidden_tests import HiddenTestsFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What grading came to on the task's solution or, without one, on its untouched files."""

    graded: Graded
    tests: HiddenTestsFinding

    def acquits_tests(self, finding: HiddenTestsFinding) -> bool:
        """Tell whether the hidden tests have not the trouble that they had with a claim."""
        if finding.unreported:
            return self.tests.outcome is Outcome.PASSED
        return self.tests.outcome is not Outcome.ERRORED

    def acquits(self, command: str) -> bool:
        """Tell whether a command of a check runs here."""
        return self.graded.ran(command)


class Controls:
    """The controls of many tasks, each made once: when a claim first needs it."""

    def __init__(self) -> None:
        self._made: dict[str, Control] = {}
        self._locks: dict[str, threading.Lock] = {}

    def get(self, task_digest: str, make: Callable[[], Control]) -> Control:
        """Return the control of a task; one that an engine broke off is made again next time."""
        with self._locks.setdefault(task_digest, threading.Lock()):
            if task_digest in self._made:
                return self._made[task_digest]
            control = make()
            if control.graded.status is not StageStatus.ENGINE:
                self._made[task_digest] = control
            return control

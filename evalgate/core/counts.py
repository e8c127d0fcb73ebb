"""How often one task passed in each arm, and in how many ways its passes can be dealt."""

from __future__ import annotations

import math
from typing import NamedTuple, Self


class _Counts(NamedTuple):
    task: str
    base_passed: int
    base_runs: int
    head_passed: int
    head_runs: int


class TaskCounts(_Counts):
    """How often one task passed in each arm; the arms may differ in their number of runs.

    Runs that could not be measured (a provider's timeout, a broken sandbox) are not failures
    and do not belong in these counts. A named tuple, since what stands below the verdict is to
    be imported in no time, and dataclasses alone take longer than the whole of it.

    Raises:
        ValueError: unless ``0 <= passed <= runs`` in both arms.

    """

    __slots__ = ()

    def __new__(
        cls, *, task: str, base_passed: int, base_runs: int, head_passed: int, head_runs: int
    ) -> Self:
        """Refuse counts that no experiment can give."""
        for arm, passed, runs in (
            ("base", base_passed, base_runs),
            ("head", head_passed, head_runs),
        ):
            if not 0 <= passed <= runs:
                message = f"task {task!r}: {arm} passed {passed} of {runs} runs"
                raise ValueError(message)
        return super().__new__(cls, task, base_passed, base_runs, head_passed, head_runs)

    @property
    def comparable(self) -> bool:
        """Whether both arms ran the task at least once."""
        return self.base_runs > 0 and self.head_runs > 0

    @property
    def passed(self) -> int:
        """Passes of both arms together."""
        return self.base_passed + self.head_passed

    @property
    def runs(self) -> int:
        """Runs of both arms together."""
        return self.base_runs + self.head_runs

    @property
    def swapped(self) -> TaskCounts:
        """The same counts with base and head exchanged."""
        return TaskCounts(
            task=self.task,
            base_passed=self.head_passed,
            base_runs=self.head_runs,
            head_passed=self.base_passed,
            head_runs=self.base_runs,
        )


def head_ways(base_runs: int, head_runs: int, passed: int) -> list[int]:
    """In how many ways `passed` passes put k of them in head, k from its least to its most."""
    return [
        math.comb(head_runs, k) * math.comb(base_runs, passed - k)
        for k in range(max(0, passed - base_runs), min(head_runs, passed) + 1)
    ]

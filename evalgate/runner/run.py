"""Many trials at once: planned, resumed, stopped by Ctrl-C, a budget or a missing part."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

from evalgate.core.task import Task
from evalgate.core.trial import Trial
from evalgate.errors import BudgetReachedError, InterruptedRunError
from evalgate.runner.grade import GradingStoppedError
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.stage import TrialStoppedError
from evalgate.store.runs import RunFolder

_STOPPED = (KeyboardInterrupt, TrialStoppedError, GradingStoppedError)
_RESUME = "the same command goes on where this stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One trial to be made: live, or from a recording."""

    task: Task
    n: int
    recorded: RecordedTrial | None = None


class Listener(Protocol):
    """Who is told about progress."""

    def begin(self, *, total: int, done: int) -> None:
        """The run starts; ``done`` trials exist already."""
        ...

    def finished(self, trial: Trial) -> None:
        """One trial is on disk."""
        ...


def execute(
    jobs: Sequence[Job],
    make: Callable[[Job, threading.Event], Trial],
    run: RunFolder,
    *,
    workers: int,
    max_usd: float | None,
    listener: Listener,
) -> tuple[Trial, ...]:
    """Make every trial that the run does not hold yet; return all of them in order.

    Raises InterruptedRunError on Ctrl-C or SIGTERM and BudgetReachedError when the money
    is used up: what is finished is on disk, and the same call goes on from there.
    """
    wanted = {(job.task.id, job.n) for job in jobs}
    have = {(t.task, t.key.n): t for t in run.trials if (t.task, t.key.n) in wanted}
    queue = deque(job for job in jobs if (job.task.id, job.n) not in have)
    listener.begin(total=len(jobs), done=len(have))
    stop, lock = threading.Event(), threading.Lock()

    def work(job: Job) -> Trial:
        # Kept by the thread that made it: no interruption of the others can lose it.
        trial = make(job, stop)
        with lock:
            run.append(trial)
            have[trial.task, trial.key.n] = trial
            listener.finished(trial)
        return trial

    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: set[Future[Trial]] = set()
        try:
            while True:
                broke = max_usd is not None and _spent(have) >= max_usd
                while not broke and len(waiting) < workers and queue:
                    waiting.add(pool.submit(work, queue.popleft()))
                if not waiting:
                    break
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException as error:
            stop.set()
            wait(waiting)
            if not isinstance(error, _STOPPED):
                raise
            message = f"interrupted: {len(have)} of {len(jobs)} trials are kept in {run.id}"
            raise InterruptedRunError(message, hint=_RESUME) from error
    if queue and _spent(have) == math.inf:
        message = f"the cost of a trial is unknown, so a budget of ${max_usd:g} can not hold"
        raise BudgetReachedError(message, hint=f"without --max-usd {_RESUME}")
    if queue:
        message = f"the budget of ${max_usd:g} is used up after {len(have)} of {len(jobs)} trials"
        raise BudgetReachedError(message, hint=f"with a larger --max-usd {_RESUME}")
    return tuple(have[key] for key in sorted(have))


def _spent(have: Mapping[Any, Trial]) -> float:
    # An unknown cost may be any, so it uses up every budget.
    costs = [trial.signals.cost_usd for trial in list(have.values())]
    return sum(math.inf if cost is None else cost for cost in costs)

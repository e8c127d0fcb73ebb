"""Many trials at once: planned, resumed, stopped by Ctrl-C, a budget or a missing part."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from evalgate.core.config import Config
from evalgate.core.limits import Allowance, Tally, tokens_of
from evalgate.core.task import Task
from evalgate.core.trial import Signals, Trial
from evalgate.errors import (
    BudgetReachedError,
    EvalgateError,
    InterruptedRunError,
    NotAvailableError,
    UsageError,
    from_os_error,
)
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.limits.charge import spent_on
from evalgate.gateway.limits.spending import Spending
from evalgate.runner.agent_stage import OverBudgetError
from evalgate.runner.journals import paid_for
from evalgate.runner.made import Made
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.stopped import TrialStoppedError
from evalgate.runner.waits import all_of, first_of
from evalgate.store.runs import RunFolder

_STOPPED = (KeyboardInterrupt, TrialStoppedError)
_RESUME = "the same command goes on where this stopped"
_ANEW = "the same command begins anew, which asks no model"

#: The member of ``run.json`` that says what was used and stands in no trial and no journal.
LOST: Final = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One trial to be made: live, or from a recording; ``beside`` of the other harness."""

    task: Task
    n: int
    recorded: RecordedTrial | None = None
    beside: bool = False


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
    make: Callable[[Job, threading.Event], Made],
    run: RunFolder,
    *,
    workers: int,
    spending: Spending | None = None,
    listener: Listener,
    resumes: bool = True,
) -> tuple[Trial, ...]:
    """Make every trial that the run does not hold yet; return all of them in order.

    Raises InterruptedRunError on Ctrl-C or SIGTERM and BudgetReachedError when the budget of
    ``spending`` is used up: what is finished is on disk, and the same call goes on from there,
    also when the system refused something, such as room on the disk. What trials used that were
    cut off is written down, so that it is not spent twice. A call that never ``resumes`` a run says
    so when it is interrupted.
    """
    wanted = {(job.task.id, job.n) for job in jobs}
    have = {(t.task, t.key.n): t for t in run.trials if (t.task, t.key.n) in wanted}
    queue = deque(job for job in jobs if (job.task.id, job.n) not in have)
    listener.begin(total=len(jobs), done=len(have))
    stop, lock = threading.Event(), threading.Lock()
    spending = spending or Spending()
    cut = 0

    def work(job: Job) -> Trial:
        # Kept by the thread that made it: no interruption of the others can lose it.
        made = make(job, stop)
        trial = made.trial
        with lock:
            run.append(trial)
            have[trial.task, trial.key.n] = trial
            made.settle()
            listener.finished(trial)
        return trial

    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: set[Future[Trial]] = set()
        try:
            while True:
                broke = cut > 0 or spending.stop() is not None
                while not broke and len(waiting) < workers and queue:
                    waiting.add(pool.submit(work, queue.popleft()))
                if not waiting:
                    break
                done = first_of(waiting)
                waiting -= done
                cut += _over(done)
        except BaseException as error:
            stop.set()
            all_of(waiting)
            kept = f"{len(have)} of {len(jobs)} trials are kept in {run.id}"
            if isinstance(error, OSError):
                message = f"{from_os_error(error).message}; {kept}"
                raise NotAvailableError(message, hint=f"mend that: {_RESUME}") from error
            if not isinstance(error, _STOPPED):
                raise
            hint = _RESUME if resumes else _ANEW
            raise InterruptedRunError(f"interrupted: {kept}", hint=hint) from error
        finally:
            if spending.lost != Tally():
                # On a full disk there is no room for it, and no second error to be told.
                with suppress(OSError):
                    run.write_info({**run.info, LOST: spending.lost.to_json()})
    if queue or cut:
        raise _over_budget(spending, f"{len(have)} of {len(jobs)} trials")
    return tuple(have[key] for key in sorted(have))


def _over(done: Iterable[Future[Trial]]) -> int:
    """Return how many trials the budget cut off; raise what else ended one."""
    cut = 0
    for future in done:
        try:
            future.result()
        except OverBudgetError:
            cut += 1
    return cut


def spent_before(
    run: RunFolder,
    allowed: Allowance,
    jobs: Sequence[Job],
    config: Config,
    *,
    elsewhere: Sequence[RunFolder] = (),
) -> Spending:
    """Return what a run has used so far: its finished trials, and those that were cut off.

    Of these the journals tell: they are all that a killed run leaves. What was only played cost
    nothing; a trial that was topped up counts as a whole. ``elsewhere`` are other runs, of live
    trials, that share the budget. UsageError when the own note of one of the runs was edited, or
    a journal was damaged.
    """
    asked = [
        (job.task.id, job.n, job.recorded.tape if job.recorded is not None else None)
        for job in jobs
    ]
    before, lost = _used(run, asked, config), _lost(run)
    for other in elsewhere:
        live = [(one.task, one.n, None) for one in other.plan.trials]
        before += _used(other, live, config) + _lost(other)
    return Spending(allowed, before=before, lost=lost)


def _used(
    run: RunFolder, asked: Iterable[tuple[str, int, CassetteFile | None]], config: Config
) -> Tally:
    prices = config.prices
    made = {(trial.task, trial.key.n): trial for trial in run.trials}
    used = Tally()
    for task, n, tape in asked:
        trial = made.get((task, n))
        if trial is None:
            scrubs = config.cassettes.scrubs
            paid = paid_for(run, task, n, recorded=tape, scrubs=scrubs)
            used += spent_on(paid, prices)
        elif tape is None or trial.topped_up:
            used += _tally(trial.signals)
    return used


def _lost(run: RunFolder) -> Tally:
    try:
        return Tally.from_json(run.info.get(LOST, {}))
    except TypeError as error:
        message = f"{run.path / 'run.json'}: {LOST}: {error}"
        raise UsageError(message, hint="the file was edited: --fresh begins a new run") from error


def _tally(signals: Signals) -> Tally:
    return Tally(
        turns=signals.turns or 0,
        tool_calls=signals.tool_calls or 0,
        tokens=tokens_of(signals.usage),
        usd=signals.cost_usd,
    )


def _over_budget(spending: Spending, after: str) -> EvalgateError:
    used_up = spending.stop()
    stop = used_up or spending.refused
    limit = stop.limit if stop else "this run"
    money = limit.startswith("$")
    larger = "--usd" if money else "[budget]"
    if stop and stop.unknown:
        what = "cost" if money else "number of tokens"
        message = f"the {what} of a trial is unknown, so a budget of {limit} can not hold"
        return BudgetReachedError(message, hint=f"without {larger} {_RESUME}")
    if stop and used_up is None:
        message = f"too little of the budget of {limit} was left after {after}"
        return BudgetReachedError(message, hint=_RESUME)
    message = f"the budget of {limit} is used up after {after}"
    return BudgetReachedError(message, hint=f"with a larger {larger} {_RESUME}")

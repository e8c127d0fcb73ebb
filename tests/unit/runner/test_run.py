"""Many trials: in order, resumed, and never lost, however the run ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evalgate.core.claim import Claim
from evalgate.core.config import load_config
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.limits import Allowance, Tally
from evalgate.core.schema import Source
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Outcome, Signals, Trial
from evalgate.errors import (
    BudgetReachedError,
    InterruptedRunError,
    NotAvailableError,
    UsageError,
)
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.spending import Spending
from evalgate.protocols import StageStatus
from evalgate.runner.agent_stage import OverBudgetError
from evalgate.runner.made import Made
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.run import Job, execute, spent_before
from evalgate.runner.stopped import TrialStoppedError
from evalgate.store.runs import RunFolder, RunStore
from tests.plans import plan

Make = Callable[[Job, threading.Event], Trial]

#: Nothing of a harness's configuration matters here.
HERE = load_config(
    Source(
        "evalgate.toml",
        '[harness.parts]\ncode = ["a"]\n[models.m]\nid = "m"\nupstream = "env:URL"\n'
        '[agent]\ncommand = ["a"]\n',
    ),
    below=(),
)

#: What a trial has used when the budget cuts it off.
PENNY = Tally(usd=0.01)


def trial_of(job: Job, cost: float | None = 0.0) -> Trial:
    """Return a passed trial of a job."""
    return Trial(
        task=job.task.id,
        key=TrialKey(task_digest="d", fingerprint="f", series="main", n=job.n),
        outcome=Outcome.PASSED,
        signals=Signals(cost_usd=cost, input_tokens=1, output_tokens=1),
        conditions=Conditions(sandbox="process", agent=""),
        evidence=Evidence.MEASURED,
    )


@dataclass
class Told:
    """A listener that remembers."""

    began: list[tuple[int, int]] = field(default_factory=list)
    done: list[tuple[str, int]] = field(default_factory=list)

    def begin(self, *, total: int, done: int) -> None:
        """Remember how much there is."""
        self.began.append((total, done))

    def finished(self, trial: Trial) -> None:
        """Remember which trial."""
        self.done.append((trial.task, trial.key.n))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    """A run that nothing was appended to."""
    with RunStore(tmp_path).open(plan(), fresh=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def jobs(task: Callable[..., Task]) -> list[Job]:
    """Two tasks, three trials each, in an order of their own."""
    tasks = [task(id=name) for name in ("b", "a")]
    return [Job(task=one, n=n) for one in tasks for n in (1, 2, 3)]


@pytest.fixture
def recorded() -> RecordedTrial:
    """A recording in which nothing was asked."""
    return RecordedTrial(
        tape=CassetteFile(header=Header(), exchanges=(), claim={}, record={}),
        task="a",
        task_digest="d",
        fingerprint="f",
        n=1,
        evidence=Evidence.MEASURED,
        recording=1,
        conditions=Conditions(sandbox="process", agent=""),
        status=StageStatus.EXITED,
        exit_code=0,
        seconds=1.0,
        detail="",
        last_words="",
        secret="",
        claim=Claim(),
        measured={},
    )


def go(
    jobs: list[Job], make: Make, run: RunFolder, *, workers: int = 1, max_usd: float | None = None
) -> tuple[tuple[Trial, ...], Told]:
    """Make the trials and listen; what each costs is reported as the wire does it."""
    told = Told()
    spending = spent_before(run, Allowance(usd=max_usd), jobs, HERE)

    def reporting(job: Job, stop: threading.Event) -> Made:
        account = spending.open()
        try:
            trial = make(job, stop)
        except OverBudgetError:
            account.report(PENNY, alone=PENNY)
            raise
        cost = Tally(usd=trial.signals.cost_usd)
        account.report(cost, alone=cost.known)
        return Made(trial=trial, settle=account.settle)

    trials = execute(jobs, reporting, run, workers=workers, spending=spending, listener=told)
    return trials, told


def names(trials: tuple[Trial, ...]) -> list[tuple[str, int]]:
    """Return what names each trial."""
    return [(trial.task, trial.key.n) for trial in trials]


ALL = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]


@pytest.mark.parametrize("workers", [1, 4])
def test_all_trials_come_back_in_order(jobs: list[Job], run: RunFolder, workers: int) -> None:
    """Whatever ends first, the answer is by task and number, and all of it is on disk."""
    trials, told = go(jobs, lambda job, _: trial_of(job), run, workers=workers)
    assert names(trials) == ALL
    assert sorted(names(run.trials)) == sorted(told.done) == ALL
    assert told.began == [(6, 0)]


def test_only_what_is_missing_is_made(jobs: list[Job], run: RunFolder) -> None:
    """A resumed run makes the rest; trials of other plans are not taken for its own."""
    for job in jobs[:4]:
        run.append(trial_of(job))
    run.append(trial_of(Job(task=jobs[0].task, n=99)))
    trials, told = go(jobs, lambda job, _: trial_of(job), run)
    assert told.began == [(6, 4)]
    assert told.done == [("a", 2), ("a", 3)]
    assert names(trials) == ALL


def test_nothing_to_do_is_done(jobs: list[Job], run: RunFolder) -> None:
    """A complete run starts nothing."""
    for job in jobs:
        run.append(trial_of(job))
    trials, told = go(jobs, lambda job, _: pytest.fail(job.task.id), run, max_usd=0.0)
    assert names(trials) == ALL
    assert told.done == []


def test_a_budget_ends_the_run_and_keeps_the_trials(jobs: list[Job], run: RunFolder) -> None:
    """Three trials at 40 cents use up a dollar; a larger budget goes on from there."""
    with pytest.raises(BudgetReachedError) as caught:
        go(jobs, lambda job, _: trial_of(job, 0.4), run, max_usd=1.0)
    assert caught.value.exit_code == 8
    assert caught.value.message == "the budget of $1 is used up after 3 of 6 trials"
    assert len(run.trials) == 3
    with pytest.raises(BudgetReachedError):
        go(jobs, lambda job, _: pytest.fail(job.task.id), run, max_usd=1.0)
    trials, told = go(jobs, lambda job, _: trial_of(job, 0.4), run, max_usd=9.0)
    assert len(told.done) == 3
    assert names(trials) == ALL


def test_a_budget_that_is_just_enough_is_enough(jobs: list[Job], run: RunFolder) -> None:
    """Reached with the last trial, it stopped nothing."""
    trials, _ = go(jobs, lambda job, _: trial_of(job, 0.25), run, max_usd=1.5)
    assert names(trials) == ALL


def test_an_unknown_cost_uses_up_every_budget(jobs: list[Job], run: RunFolder) -> None:
    """Not counted is not free: the first trial without a cost stops a run with a budget."""
    with pytest.raises(BudgetReachedError, match="the cost of a trial is unknown"):
        go(jobs, lambda job, _: trial_of(job, None), run, max_usd=100.0)
    assert len(run.trials) == 1
    trials, _ = go(jobs, lambda job, _: trial_of(job, None), run)
    assert names(trials) == ALL


def test_a_trial_that_the_budget_cut_off_is_made_again(jobs: list[Job], run: RunFolder) -> None:
    """It leaves no trial, and what it used is not spent twice; a larger budget goes on."""

    def make(job: Job, _stop: threading.Event) -> Trial:
        if job is jobs[2]:
            raise OverBudgetError
        return trial_of(job, 0.4)

    with pytest.raises(BudgetReachedError) as caught:
        go(jobs, make, run, max_usd=5.0)
    assert caught.value.exit_code == 8
    assert len(run.trials) == 2
    assert run.info["lost"]["usd"] == 0.01
    for _ in range(2):
        with pytest.raises(BudgetReachedError):
            go(jobs, make, run, max_usd=5.0)
    assert run.info["lost"]["usd"] == pytest.approx(0.03)
    with pytest.raises(BudgetReachedError, match="used up after 2 of 6"):
        go(jobs, lambda job, _: pytest.fail(job.task.id), run, max_usd=0.83)
    trials, _ = go(jobs, lambda job, _: trial_of(job, 0.4), run, max_usd=5.0)
    assert names(trials) == ALL


def test_a_budget_that_was_only_spoken_for_is_not_called_used_up(
    jobs: list[Job], run: RunFolder
) -> None:
    """A turn under way held the last of it, and then failed: nothing larger is needed."""
    spending = Spending(Allowance(turns=1))

    def make(_job: Job, _stop: threading.Event) -> Made:
        account = spending.open()
        assert spending.admit(account, 0, turn=True) is None
        assert spending.admit(account, 1, turn=True) is not None
        account.release(0)
        raise OverBudgetError

    with pytest.raises(BudgetReachedError, match="too little of the budget of 1 model turns"):
        execute(jobs, make, run, workers=1, spending=spending, listener=Told())


@pytest.mark.parametrize("lost", [{"usd": "much"}, {"euros": 1}])
def test_an_edited_note_of_what_was_lost_is_named(run: RunFolder, lost: dict[str, object]) -> None:
    """Money is not counted by what somebody wrote there."""
    run.write_info({**run.info, "lost": lost})
    with pytest.raises(UsageError, match="lost"):
        spent_before(run, Allowance(usd=1.0), [], HERE)


@pytest.mark.parametrize("stopped", [KeyboardInterrupt, TrialStoppedError])
def test_an_interrupted_run_keeps_what_is_finished(
    jobs: list[Job], run: RunFolder, stopped: type[BaseException]
) -> None:
    """Ctrl-C says how many trials are kept, and where; the same call does the rest."""

    def make(job: Job, _stop: threading.Event) -> Trial:
        if job is jobs[2]:
            raise stopped
        return trial_of(job)

    with pytest.raises(InterruptedRunError) as caught:
        go(jobs, make, run)
    assert caught.value.exit_code == 130
    assert caught.value.message == f"interrupted: 2 of 6 trials are kept in {run.id}"
    trials, told = go(jobs, lambda job, _: trial_of(job), run)
    assert told.began == [(6, 2)]
    assert names(trials) == ALL


def test_what_is_left_to_do_is_done_once_the_trial_is_on_disk(
    jobs: list[Job], run: RunFolder
) -> None:
    """Never before: a kill in between would lose it."""
    seen: list[tuple[str, int]] = []

    def make(job: Job, _stop: threading.Event) -> Made:
        return Made(trial=trial_of(job), settle=lambda: seen.append(names(run.trials)[-1]))

    execute(jobs, make, run, workers=1, listener=Told())
    assert seen == [(job.task.id, job.n) for job in jobs]


def test_a_trial_that_can_not_be_written_down_is_not_kept(
    jobs: list[Job], small_disk: Path
) -> None:
    """A full disk: the run says how many it has, its file is whole, and the same call goes on."""
    filler = small_disk / "filler"
    told: list[int] = []

    def make(job: Job, _stop: threading.Event) -> Made:
        if job is jobs[2]:
            with suppress(OSError):
                filler.write_bytes(bytes(1_000_000))
        trial = replace(trial_of(job), reason="long " * 2000)
        return Made(trial=trial, settle=lambda: told.append(job.n))

    with RunStore(small_disk).open(plan(), fresh=True) as run:
        with pytest.raises(NotAvailableError) as caught:
            execute(jobs, make, run, workers=1, listener=Told())
        assert "No space left" in caught.value.message
        assert f"2 of 6 trials are kept in {run.id}" in caught.value.message
        assert "same command goes on" in caught.value.hint
        assert told == [1, 2]
        filler.unlink()
        trials = execute(
            jobs, lambda j, _: Made(trial=trial_of(j)), run, workers=1, listener=Told()
        )
    assert names(trials) == ALL
    assert len(run.trials) == 6


@pytest.mark.parametrize("evidence", [Evidence.TOPPED_UP, Evidence.FAULTED])
def test_what_was_only_played_cost_nothing(
    jobs: list[Job], run: RunFolder, recorded: RecordedTrial, evidence: Evidence
) -> None:
    """Of a top-up's trials those count that asked a model, under faults as well."""
    again = [replace(job, recorded=recorded) for job in jobs]
    run.append(replace(trial_of(jobs[0], 5.0), evidence=evidence))
    run.append(replace(trial_of(jobs[1], 2.0), evidence=evidence, topped_up=1))
    assert spent_before(run, Allowance(usd=1.0), again, HERE).used.usd == 2.0
    assert spent_before(run, Allowance(usd=1.0), jobs, HERE).used.usd == 7.0


@pytest.mark.parametrize("error", [NotAvailableError("docker is gone"), OSError("disk full")])
def test_a_failure_stops_the_others_and_surfaces(
    jobs: list[Job], run: RunFolder, error: Exception
) -> None:
    """Trials under way are told to stop; no further one is begun."""
    begun = []

    def make(job: Job, stop: threading.Event) -> Trial:
        begun.append(job)
        if job is jobs[0]:
            raise error
        if stop.wait(10):
            raise TrialStoppedError
        return pytest.fail("nobody told this trial to stop")

    with pytest.raises(NotAvailableError, match=str(error)):
        go(jobs, make, run, workers=2)
    assert len(begun) <= 3
    assert run.trials == ()


def test_a_trial_that_ends_while_the_run_stops_is_kept(jobs: list[Job], run: RunFolder) -> None:
    """It was paid for: finished is finished, though another one failed."""
    together = threading.Barrier(2)

    def make(job: Job, stop: threading.Event) -> Trial:
        together.wait(10)
        if job is jobs[0]:
            raise NotAvailableError("docker is gone")
        stop.wait(10)
        return trial_of(job)

    with pytest.raises(NotAvailableError):
        go(jobs[:2], make, run, workers=2)
    assert names(run.trials) == [("b", 2)]


def test_an_interruption_counts_what_ended_with_it(jobs: list[Job], run: RunFolder) -> None:
    """The number in the message is the number on disk."""
    together = threading.Barrier(2)

    def make(job: Job, stop: threading.Event) -> Trial:
        together.wait(10)
        if job is jobs[0]:
            raise KeyboardInterrupt
        stop.wait(10)
        return trial_of(job)

    with pytest.raises(InterruptedRunError, match="1 of 2 trials are kept"):
        go(jobs[:2], make, run, workers=2)

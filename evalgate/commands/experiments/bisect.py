"""`evalgate bisect`: which commit broke a task, by the fewest trials."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalgate.checks.table import build_judges
from evalgate.commands.baselines.lineage import Step, commits_between, lineage
from evalgate.commands.baselines.measured import sessions_here
from evalgate.commands.console import Console
from evalgate.commands.experiments.culprit import Bisected, Named, expected
from evalgate.commands.fingerprint import changed_parts
from evalgate.commands.making.account import holding
from evalgate.commands.making.budget import budget_of, require_prices
from evalgate.commands.making.estimate import estimate
from evalgate.commands.making.judges import judged_by
from evalgate.commands.making.pricing import judging_prices, priced_by
from evalgate.commands.making.trials import Request, default_workers, make_trials
from evalgate.commands.project import Project, State, open_state
from evalgate.core.bisection import Ask, Bisection, Counts, Ending, beliefs, bisection
from evalgate.core.identity import Conditions
from evalgate.core.rates import counted
from evalgate.core.session import Session
from evalgate.core.task import Task
from evalgate.errors import UsageError
from evalgate.repo.history import subject_line
from evalgate.repo.subject import Subject
from evalgate.runner.run import Job
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind

#: Trials of a bisection are chosen by how others came out, so no gate takes them for a sample.
_SERIES = "bisect"


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """What the command line says about a bisection."""

    task: str
    commits: str
    dry_run: bool = False
    workers: int | None = None
    max_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of each harness on the line, and what of it could not be taken."""

    counts: Counts
    left_out: tuple[str, ...] = ()


def bisect(project: Project, options: BisectOptions, console: Console) -> Bisected:
    """Find the commit between two others that broke a task.

    Trials that exist are taken first; every further one is kept, so that the same command goes
    on where it was interrupted. The task is the one of the bad end.

    Raises:
        UsageError: no such range or task, or a harness of an end that can not be read.
        BudgetReachedError: the money is used up; the same command goes on.
    """
    good, dots, bad = options.commits.partition("..")
    if not dots or not good or not bad or bad.startswith("."):
        message = f"a range is written GOOD..BAD, not {options.commits!r}"
        raise UsageError(message, hint="for example v1.2..HEAD")
    commits = commits_between(project.git, good, bad)
    with open_state(project, Subject.parse(commits[-1])) as end:
        task = _task(end, options.task)
        steps = lineage(project, commits)
        found = Bisected(
            task=task.id,
            commits=len(commits) - 1,
            states=tuple((step.commit, subject_line(project.git, step.commit)) for step in steps),
        )
        if len(steps) == 1:
            return found
        known = _known(end, steps, task)
        found = replace(found, cached=known.counts, left_out=known.left_out)
        asking = _Asking(end=end, steps=steps, task=task, options=options, console=console)
        if options.dry_run:
            return replace(found, estimate=_dry(asking, known.counts))
        with holding(project, _account(asking)):
            ended = _go(asking, _known(end, steps, task).counts)
        return replace(found, ended=ended, named=_named(project, steps, ended))


def _task(end: State, name: str) -> Task:
    # Not as a pattern: one task is bisected.
    found = [task for task in end.tasks if task.id == name]
    if not found:
        message = f"{end.view.label} has no task {name!r}"
        names = ", ".join(task.id for task in end.tasks[:8])
        raise UsageError(message, hint=f"it has: {names}" if names else "its suite is empty")
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Where trials come from: the harnesses on the line, the task, and the bounds."""

    end: State
    steps: tuple[Step, ...]
    task: Task
    options: BisectOptions
    console: Console


def _go(asking: _Asking, counts: Counts) -> Bisection:
    batch = asking.options.workers or 1
    steps = bisection(counts, batch=batch)
    try:
        ask = next(steps)
        while True:
            _make(asking, ask)
            counts = _known(asking.end, asking.steps, asking.task).counts
            _tell(asking, ask, counts)
            ask = steps.send(counts)
    except StopIteration as end:
        found: Bisection = end.value
        return found


def _make(asking: _Asking, ask: Ask) -> None:
    """Make trials of one harness. One range shares one budget, in one call or in several.

    Their money is counted at the prices of the bad end, and its judges are asked, whatever a commit
    between says of its own.
    """
    step, options = asking.steps[ask.state], asking.options
    with open_state(asking.end.project, Subject.parse(step.commit)) as state:
        budget = budget_of(asking.end.config, options.max_usd)
        ends = asking.end.config
        harness = judged_by(ends, priced_by(ends, state.harness))
        require_prices(harness, budget, [asking.task])
        request = Request(
            kind=Kind.CONFIRM,
            harness=harness,
            tasks=[asking.task],
            jobs=[Job(task=asking.task, n=n) for n in _numbers(asking, step, ask.runs)],
            workers=options.workers or default_workers(),
            sandbox=asking.end.config.sandbox.use,
            budget=budget,
            series=_SERIES,
            account=_account(asking),
            prices=judging_prices(harness, state.harness),
        )
        make_trials(state, request, asking.console)


def _account(asking: _Asking) -> str:
    return f"bisect {asking.task.digest} {asking.options.commits}"


def _numbers(asking: _Asking, step: Step, runs: int) -> tuple[int, ...]:
    """Return the numbers of the next trials of a harness: those that were begun, else new ones.

    What was begun is ended first, however many are asked for now. Errored ones have theirs too.
    """
    store = RunStore(asking.end.project.state)
    made = sum(len(run.trials) for run in store.finished() if _is_of(asking, step, run))
    for run in store.begun():
        if _is_of(asking, step, run):
            numbers = tuple(one.n for one in run.plan.trials)
            if min(numbers) > made:  # else they were made since, under other conditions
                return numbers
    return tuple(range(made + 1, made + 1 + runs))


def _is_of(asking: _Asking, step: Step, run: RunFolder) -> bool:
    asked = (_SERIES, step.fingerprint, {asking.task.id: asking.task.digest})
    return (run.plan.series, run.plan.fingerprint, run.plan.tasks) == asked


def _tell(asking: _Asking, ask: Ask, counts: Counts) -> None:
    passed, runs = counts[ask.state]
    chance = max(beliefs(counts))
    commit = asking.steps[ask.state].commit[:12]
    sure = f"; the likeliest change: {100 * chance:.0f} %" if len(counts) > 2 else ""  # noqa: PLR2004
    asking.console.note(f"bisect: {commit} passed {passed} of {runs}{sure}")


def _known(end: State, steps: tuple[Step, ...], task: Task) -> _Known:
    """Count what was measured of the task on each harness, under the newest conditions.

    Harnesses that ask for equal models are held to equal conditions; what was measured under
    others, such as of a model that the provider no longer serves, is left out. So is, on any of
    them, what another judge than the end's was asked about.
    """
    judges = {one.model.id: one.model.place for one in build_judges(task, end.harness.judges)}
    with open_state(end.project, Subject.parse("WORKTREE")) as here:
        each = [_of_task(here, step, task) for step in steps]
    newest: dict[tuple[str, ...], Session] = {}
    for step, sessions in zip(steps, each, strict=True):
        for one in sessions:
            there = one.sample.conditions.judged_at
            if any(there.get(name, place) != place for name, place in judges.items()):
                continue
            if step.models not in newest or one.day >= newest[step.models].day:
                newest[step.models] = one
    counts, left_out = [], []
    for step, sessions in zip(steps, each, strict=True):
        passed = runs = 0
        for one in sessions:
            sample = one.sample.tasks[task.id]
            like: Conditions = newest.get(step.models, one).sample.conditions
            unequal = replace(like, judged_at=judges).differences(one.sample.conditions)
            if unequal:
                left_out.append(
                    f"{step.commit[:12]}: {counted(len(sample.measured), 'trial')}, {unequal[0]}"
                )
            else:
                passed, runs = passed + sample.passed, runs + len(sample.measured)
        counts.append((passed, runs))
    return _Known(counts=tuple(counts), left_out=tuple(left_out))


def _of_task(here: State, step: Step, task: Task) -> list[Session]:
    sessions = sessions_here(here, step.fingerprint, series=(_SERIES,))
    return [one for one in sessions if not one.lacks({task.id: task.digest})]


def _dry(asking: _Asking, counts: Counts) -> str:
    """Say what the trials would come to that are still to be made."""
    middle, most = expected(counts)
    costs = [
        estimate(asking.end, asking.end.harness, [asking.task], trials).removeprefix("estimate: ")
        for trials in (middle, most)
    ]
    return f"half of the time at most {costs[0]}; nine times in ten at most {costs[1]}"


def _named(project: Project, steps: tuple[Step, ...], ended: Bisection) -> Named | None:
    if ended.ending is not Ending.FOUND or not ended.named:
        return None
    first, last = steps[ended.named[0]], steps[ended.named[-1] + 1]
    # The change lies between the commit before the new harness and the one that brought it.
    between = commits_between(project.git, first.commit, last.commit)
    suspects = [commit for change in ended.named for commit in _brought_by(steps[change + 1])]
    before = between[between.index(suspects[0]) - 1]
    with (
        open_state(project, Subject.parse(first.commit)) as old,
        open_state(project, Subject.parse(last.commit)) as new,
    ):
        parts = changed_parts(old, new)
    return Named(
        commits=tuple((commit, subject_line(project.git, commit)) for commit in suspects),
        before=before,
        parts={name: tuple(files) for name, files in parts.items()},
        probability=sum(ended.probabilities[change] for change in ended.named),
    )


def _brought_by(step: Step) -> tuple[str, ...]:
    return (*step.unread, step.commit)

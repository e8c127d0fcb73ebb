"""`evalgate task verify`: is every task what it says, and does the suite see what it should?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalgate.commands.answer import Answer
from evalgate.commands.console import Console
from evalgate.commands.making.trials import default_workers
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.tasks.proving import prove_all
from evalgate.core.config import Config
from evalgate.core.decision import worst
from evalgate.core.json import Json
from evalgate.core.proof import Proof
from evalgate.core.rates import counted
from evalgate.core.simulation import GATES, smallest_drop
from evalgate.core.suite_health import Ailment, Complaint, Known, complaints_of, stored_of
from evalgate.core.task import Task
from evalgate.errors import ExitCode
from evalgate.store.runs import RunStore
from evalgate.wiring import prover_for


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What the command line says: ``times`` each, at most so many ``mutants`` a task."""

    tasks: Sequence[str] = ()
    rev: str | None = None
    times: int = 3
    mutants: int = 8
    workers: int | None = None
    sandbox: str | None = None
    strict: bool = False


def verify_tasks(project: Project, options: VerifyOptions, console: Console) -> Answer:
    """Prove the tasks that are named, and look at the suite's health.

    Exit 1 where a task is not proven (with ``strict`` also where anything else is wrong), 4 where
    one could not be tried to its end.

    Raises:
        NothingRanError: a pattern matches none, or there is no task.
        NotAvailableError: there is no sandbox to try them in.
    """
    with open_state(project, subject_of(options.rev)) as state:
        tasks = state.selected(options.tasks)
        sandbox = options.sandbox or state.config.sandbox.use
        prover = prover_for(
            state.harness, sandbox, os.environ, times=options.times, mutants=options.mutants
        )
        each = counted(options.times, "time")
        console.note(f"{counted(len(tasks), 'task')}, each {each} in {prover.provider.name}")
        proofs = prove_all(prover, tasks, options.workers or default_workers(), console)
        # Single tasks are no suite: whether they are enough was not asked.
        complaints = tuple(_health(state, tasks, whole=not options.tasks))
    return _answer(proofs, complaints, strict=options.strict)


def _health(state: State, tasks: Sequence[Task], *, whole: bool) -> Iterator[Complaint]:
    known = {task.id: list(_known(state, task)) for task in tasks}
    yield from complaints_of(tasks, known)
    if whole:
        yield from _too_few(state.config, tasks, known)


def _known(state: State, task: Task) -> Iterator[Known]:
    """Yield the live trials of a task as it is now: of runs made here, and of baselines."""
    seen = set()
    for run in RunStore(state.project.state).finished():
        for trial in run.trials:
            if trial.key.task_digest == task.digest and trial.evidence.counts:
                seen.add(trial.key.fingerprint)
                yield Known(
                    harness=trial.key.fingerprint, outcome=trial.outcome, reason=trial.reason
                )
    for baseline in state.baselines():
        sample = baseline.sample
        kept = sample.tasks.get(task.id)
        if kept is None or kept.digest != task.digest or sample.fingerprint in seen:
            continue
        for row in kept.rows:
            yield Known(harness=sample.fingerprint, outcome=row.outcome, reason=row.reason)


def _too_few(
    config: Config, tasks: Sequence[Task], known: dict[str, list[Known]]
) -> Iterator[Complaint]:
    stored = stored_of(tasks, known, trials=config.trials)
    wanted = config.policy.margin
    smallest = smallest_drop(stored, config.policy, planned=config.trials, gates=GATES)
    if smallest is not None and smallest <= wanted:
        return
    found = "no drop of up to 50" if smallest is None else f"a drop of {smallest * 100:g}"
    size = f"{counted(len(tasks), 'task')} × {counted(config.trials, 'trial')}"
    said = (
        f"{size} find {found} points four times in five, and"
        f" policy.margin is {wanted * 100:g}: more tasks, or more trials (evalgate plan)"
    )
    yield Complaint(ailment=Ailment.TOO_FEW, said=said)


def _answer(proofs: Sequence[Proof], complaints: Sequence[Complaint], *, strict: bool) -> Answer:
    proven = sum(proof.proven for proof in proofs)
    unmeasured = any(not proof.measured for proof in proofs)
    unsound = any(not proof.proven and proof.measured for proof in proofs)
    if strict:
        unsound = unsound or bool(complaints) or any(proof.flaws for proof in proofs)
    codes = [*[ExitCode.NOT_MEASURED] * unmeasured, *[ExitCode.REGRESSION] * unsound]
    code = worst(codes)
    lines = [line for proof in proofs for line in _lines(proof)]
    lines += [f"suite: {one.ailment}: {one.said}" for one in complaints]
    are = "is" if len(proofs) == 1 else "are"
    lines.append(f"{proven} of {counted(len(proofs), 'task')} {are} proven")
    value: dict[str, Json] = {
        "proven": proven,
        "tasks": [proof.to_json() for proof in proofs],
        "suite": [one.to_json() for one in complaints],
        "exit_code": int(code),
    }
    return Answer(text="\n".join(lines), value=value, code=code)


def _lines(proof: Proof) -> Iterator[str]:
    found = proof.mutants - len(proof.survivors)
    mutants = f", {found} of {counted(proof.mutants, 'slip')} found" if proof.mutants else ""
    tests = counted(len(proof.passed), "test") if proof.passed else "no test reported by name"
    yield f"{'proven' if proof.proven else 'NOT PROVEN'}: {proof.task} ({tests}{mutants})"
    for flaw in proof.flaws:
        yield f"  {'note: ' if flaw.advisory else ''}{flaw.rule}: {flaw.said}"
    for one in proof.survivors:
        yield f"  passes with a slip: {one.said}"
        yield from (f"    {line}" for line in one.diff.splitlines())

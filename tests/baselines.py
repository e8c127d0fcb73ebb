"""Baselines written as if somebody had measured a harness."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalgate.commands.project import open_project, open_state
from evalgate.core.baseline import Baseline, Provenance
from evalgate.core.identity import Conditions
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.task import suite_digest
from evalgate.core.trial import Evidence, Outcome
from evalgate.repo.subject import Subject
from evalgate.store.baselines import dump_baseline, load_baseline
from evalgate.store.ledger import dump_ledger


def accept(path: Path, state: str = "WORKTREE", *, trials: int = 3) -> Path:
    """Write a baseline in which every trial passed, and its ledger entry; return its file."""
    project = open_project(path)
    with open_state(project, Subject.parse(state)) as there:
        rows = tuple(Row(n=n, outcome=Outcome.PASSED) for n in range(1, trials + 1))
        tasks = {
            task.id: TaskSample(task=task.id, digest=task.digest, rows=rows) for task in there.tasks
        }
        baseline = Baseline(
            sample=Sample(
                fingerprint=there.fingerprint.digest,
                conditions=Conditions(sandbox="process", agent="", models=("scripted-1",)),
                tasks=tasks,
                evidence=Evidence.MEASURED,
            ),
            parts=there.fingerprint.parts,
            suite=suite_digest(there.tasks),
            provenance=Provenance(evalgate="0.1.0", commit="", date="2026-01-01"),
        )
    file = path / "baselines" / baseline.filename
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(dump_baseline(baseline))
    enter(file)
    return file


def enter(path: Path) -> Path:
    """Write the ledger entry of a baseline; return its file."""
    one = load_baseline(path.read_bytes(), name=path.name)
    sample = one.sample
    entry = {
        "fingerprint": sample.fingerprint,
        "decision": "accepted",
        "evidence": str(sample.evidence),
        "date": str(one.provenance.day),
        "parts": dict(one.parts),
        "passed": {name: task.passed for name, task in sample.tasks.items()},
        "measured": {name: len(task.measured) for name, task in sample.tasks.items()},
    }
    file = path.parent / "ledger" / f"{entry['date']}-{path.name}"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(dump_ledger(entry))
    return file


def forge(path: Path) -> Path:
    """Write a baseline beside another one, in which all that passed failed; return its file."""
    true = load_baseline(path.read_bytes(), name=path.name)
    tasks = {
        name: replace(task, rows=tuple(replace(row, outcome=Outcome.FAILED) for row in task.rows))
        for name, task in true.sample.tasks.items()
    }
    false = replace(true, sample=replace(true.sample, tasks=tasks))
    file = path.parent / false.filename
    file.write_bytes(dump_baseline(false))
    return file

"""Where the files of one trial lie in a run folder, and what they hold."""

from __future__ import annotations

import json
from pathlib import Path

from evalgate.core.identity import storage_key
from evalgate.core.redaction import Redactor
from evalgate.core.short_name import short_of
from evalgate.core.trial import Trial
from evalgate.runner.work import Work
from evalgate.store.atif import Origin, dump_atif
from evalgate.store.runs import RunFolder


def artifact_folder(task: str, n: int) -> str:
    """Return the path of a trial's files below ``artifacts/``."""
    return f"{storage_key(task)}/{n}"


def cassette_path(run: RunFolder, task: str, n: int) -> Path:
    """Return where the recording of a trial lies in its run folder."""
    return run.artifacts / artifact_folder(task, n) / "cassette.json"


def write_artifacts(
    run: RunFolder, trial: Trial, work: Work, grade_log: str, redactor: Redactor
) -> None:
    """Write log, grading log, diff and trajectory of a finished trial, and why it diverged.

    Of an agent on the host what it asked of its sandbox is written as well, a line a call.
    """
    for name, text in (
        ("grade.txt", grade_log),
        ("diff.patch", trial.patch),
    ):
        data = text.encode("utf-8", "surrogateescape")
        run.write_artifact(f"{trial.artifacts}/{name}", data)
    trajectory = redactor.text(dump_atif(work.witness.trajectory, _origin(trial, work)))
    run.write_artifact(f"{trial.artifacts}/trajectory.json", trajectory.encode("utf-8", "replace"))
    # An agent that asks again in vain is told the same again.
    told = dict.fromkeys(miss.explanation for miss in work.witness.misses)
    if told:
        text = redactor.text("\n\n".join(told) + "\n")
        run.write_artifact(f"{trial.artifacts}/divergence.txt", text.encode("utf-8", "replace"))
    if work.calls:
        lines = "".join(json.dumps(call.to_json()) + "\n" for call in work.calls)
        run.write_artifact(f"{trial.artifacts}/tools.jsonl", lines.encode())
    note = "" if work.log_bytes <= len(work.log) else f"\n[{work.log_bytes} bytes in all]\n"
    run.write_artifact(f"{trial.artifacts}/log.txt", work.log + note.encode())


def _origin(trial: Trial, work: Work) -> Origin:
    """Say whose trajectory it is: the harness's fingerprint is the version of the agent."""
    models = work.witness.served_models
    return Origin(
        session=f"{trial.task}#{trial.key.n}",
        agent=trial.conditions.agent or "agent",
        version=short_of(trial.key.fingerprint),
        model=models[0] if models else None,
        usage=work.witness.usage,
        cost_usd=trial.signals.cost_usd,
        about={"task": trial.task, "n": trial.key.n, "fingerprint": trial.key.fingerprint},
    )

"""Where the files of one trial lie in a run folder, and what they hold."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from evalgate.core.identity import storage_key
from evalgate.core.redaction import Redactor
from evalgate.core.trial import Trial
from evalgate.runner.work import Work
from evalgate.store.runs import RunFolder


def artifact_folder(task: str, n: int) -> str:
    """Return the path of a trial's files below ``artifacts/``."""
    return f"{storage_key(task)}/{n}"


def cassette_path(run: RunFolder, task: str, n: int) -> Path:
    """Return where the recording of a trial lies in its run folder."""
    return run.path / "artifacts" / artifact_folder(task, n) / "cassette.json"


def write_artifacts(
    run: RunFolder, trial: Trial, work: Work, grade_log: str, redactor: Redactor
) -> None:
    """Write log, grading log, diff and trajectory of a finished trial."""
    calls = [asdict(call) for call in work.witness.trajectory.calls]
    trajectory = redactor.text(json.dumps(calls, indent=1, ensure_ascii=False))
    for name, text in (
        ("grade.txt", grade_log),
        ("diff.patch", trial.patch),
        ("trajectory.json", trajectory),
    ):
        data = text.encode("utf-8", "surrogateescape")
        run.write_artifact(f"{trial.artifacts}/{name}", data)
    note = "" if work.log_bytes <= len(work.log) else f"\n[{work.log_bytes} bytes in all]\n"
    run.write_artifact(f"{trial.artifacts}/log.txt", work.log + note.encode())

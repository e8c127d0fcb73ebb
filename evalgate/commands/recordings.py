"""Committed cassettes: found in a state of the project, and written by a recording."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import State
from evalgate.core.harness import Harness
from evalgate.core.identity import storage_key
from evalgate.core.task import Task
from evalgate.core.trial import Trial
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.run import Job
from evalgate.store.disk import write_whole
from evalgate.store.runs import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Recordings:
    """The recordings of one harness: tapes by task id, in order of n."""

    fingerprint: str
    tapes: dict[str, list[CassetteFile]]
    others: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many times this fingerprint was recorded so far."""
        found = [_recording(tape) for tapes in self.tapes.values() for tape in tapes]
        return max(found, default=0)

    def jobs(self, tasks: Sequence[Task]) -> list[Job]:
        """Return one job a tape, for tasks whose digest is the recorded one."""
        return [
            Job(task=task, n=_number(tape), tape=tape)
            for task in tasks
            for tape in self.tapes.get(task.id, [])
            if tape.header["task_digest"] == task.digest
        ]

    def unrecorded(self, tasks: Sequence[Task]) -> list[str]:
        """Name the tasks that no recording can answer, and why."""
        return [
            f"{task.id} ({'changed since' if task.id in self.tapes else 'never recorded'})"
            for task in tasks
            if not any(t.header["task_digest"] == task.digest for t in self.tapes.get(task.id, []))
        ]


def find_recordings(state: State, fingerprint: str) -> Recordings:
    """Read the committed recordings of one harness; the folders of others are named."""
    files = state.view.read_prefix(state.project.within("cassettes"))
    short = fingerprint[:12]
    tapes: dict[str, list[CassetteFile]] = {}
    for path, file in sorted(files.items()):
        if path.startswith(f"{short}/") and path.endswith(".json"):
            tape = load_cassette(file.data, name=f"cassettes/{path}")
            if tape.header["fingerprint"] != fingerprint:
                message = f"cassettes/{path}: was recorded of another harness"
                raise UsageError(message, hint="a recording can not be moved between harnesses")
            tapes.setdefault(str(tape.header["task"]), []).append(tape)
    others = {path.split("/", 1)[0] for path in files if "/" in path} - {short}
    for found in tapes.values():
        found.sort(key=_number)
    return Recordings(fingerprint=fingerprint, tapes=tapes, others=tuple(sorted(others)))


def publish(run: RunFolder, harness: Harness, trials: Sequence[Trial], root: Path) -> Path:
    """Copy a complete run's cassettes below ``cassettes/`` and retire other harnesses' ones.

    A set that exists already is replaced as a whole, never mixed.
    """
    folder = root / "cassettes" / harness.short
    fresh = folder.with_name(f".{harness.short}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for trial in trials:
        data = cassette_path(run, trial.task, trial.key.n).read_bytes()
        write_whole(fresh / storage_key(trial.task) / f"{trial.key.n}.json", data)
    for old in folder.parent.iterdir():
        if old != fresh:
            shutil.rmtree(old)
    fresh.replace(folder)
    return folder


def recorded_before(root: Path, fingerprint: str) -> int:
    """Return how often this harness was recorded, by the cassettes on disk."""
    found = [0]
    for path in (root / "cassettes" / fingerprint[:12]).glob("*/*.json"):
        try:
            found.append(int(json.loads(path.read_bytes())["header"]["recording"]))
        except (ValueError, KeyError, TypeError):
            continue
    return max(found)


def _number(tape: CassetteFile) -> int:
    return int(str(tape.header["n"]))


def _recording(tape: CassetteFile) -> int:
    return int(str(tape.header.get("recording", 1)))

"""Committed cassettes: found in a state of the project, and written by a recording."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import State
from evalgate.commands.shelf import Shelf
from evalgate.core.harness import Harness
from evalgate.core.identity import storage_key
from evalgate.core.task import Task
from evalgate.core.trial import Trial
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.repo.remotes import public_host
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.recorded import RecordedTrial, load_recorded
from evalgate.runner.run import Job
from evalgate.store.runs import RunFolder

FOLDER = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recordings:
    """The recordings of one harness: recorded trials by task id, in order of n.

    ``others`` names the folders of other harnesses.
    """

    fingerprint: str
    trials: Mapping[str, Sequence[RecordedTrial]]
    others: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many times this fingerprint was recorded so far."""
        return max((one.recording for many in self.trials.values() for one in many), default=0)

    def of(self, task: Task) -> list[RecordedTrial]:
        """Return the recorded trials of this very task."""
        return [one for one in self.trials.get(task.id, ()) if one.task_digest == task.digest]

    def jobs(self, tasks: Sequence[Task]) -> list[Job]:
        """Return one job a recorded trial, for tasks whose digest is the recorded one."""
        return [Job(task=task, n=one.n, recorded=one) for task in tasks for one in self.of(task)]

    def unrecorded(self, tasks: Sequence[Task]) -> list[str]:
        """Name the tasks that no recording can answer, and why."""
        return [f"{task.id} ({self.why_not(task)})" for task in tasks if not self.of(task)]

    def why_not(self, task: Task) -> str:
        """Say why a task has no recording."""
        known = task.id in self.trials
        return "recorded for another version of the task" if known else "never recorded"


def find_recordings(state: State, fingerprint: str) -> Recordings:
    """Read the recordings of one harness; the folders of others are named."""
    shelf = state.shelf
    files = shelf.read(state.view)
    short = fingerprint[:12]
    trials: dict[str, list[RecordedTrial]] = {}
    for path, file in sorted(files.items()):
        if path.startswith(f"{short}/") and path.endswith(".json"):
            name = f"{shelf.name}/{path}"
            one = load_recorded(file.data, name=name)
            if one.fingerprint != fingerprint:
                message = f"{name}: was recorded of another harness"
                raise UsageError(message, hint="a recording can not be moved between harnesses")
            if path != place_of(one):
                message = f"{name}: is the recording of {one.task} #{one.n}"
                raise UsageError(message, hint="restore the file where it was")
            trials.setdefault(one.task, []).append(one)
    folders = {path.split("/", 1)[0] for path in files if "/" in path}
    for found in trials.values():
        found.sort(key=lambda one: one.n)
    others = sorted(name for name in folders - {short} if FOLDER.fullmatch(name))
    return Recordings(fingerprint=fingerprint, trials=trials, others=tuple(others))


def place_of(one: RecordedTrial) -> str:
    """Return where a recording lies below the shelf."""
    return f"{one.fingerprint[:12]}/{storage_key(one.task)}/{one.n}.json"


def publish(
    state: State, run: RunFolder, harness: Harness, trials: Sequence[Trial], *, retire: bool
) -> Path:
    """Copy a complete run's cassettes to the shelf; return their folder there.

    A set that exists already is replaced as a whole, never mixed. ``retire`` removes the sets
    of other harnesses that were never committed: edits that were tried and left. Committed ones
    stay until somebody prunes them. A branch that deletes a set and adds a similar one looks to
    git like a renaming, and two branches that rename one file apart can not be merged.
    """
    shelf = state.shelf
    folder = shelf.folder / harness.short
    fresh = folder.with_name(f".{harness.short}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for trial in trials:
        data = cassette_path(run, trial.task, trial.key.n).read_bytes()
        write_whole(fresh / storage_key(trial.task) / f"{trial.key.n}.json", data)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.replace(folder)
    if retire and not shelf.outside:  # outside, they may be another clone's
        for old in _uncommitted(state, _folders(shelf, but=harness.short)):
            shutil.rmtree(old)
    return folder


def _folders(shelf: Shelf, *, but: str) -> list[Path]:
    return [
        folder
        for folder in (sorted(shelf.folder.iterdir()) if shelf.folder.is_dir() else ())
        if FOLDER.fullmatch(folder.name) and folder.name != but
        if folder.is_dir() and not folder.is_symlink()
    ]


def _uncommitted(state: State, folders: Sequence[Path]) -> list[Path]:
    names = [f"HEAD:{state.shelf.within}/{folder.name}" for folder in folders]
    found = state.project.git.lookup(*names) if names else ()
    return [folder for folder, oid in zip(folders, found, strict=True) if oid is None]


def recorded_before(state: State, fingerprint: str) -> int:
    """Return how often this harness was recorded, by the cassettes on disk."""
    found = [0]
    for path in (state.shelf.folder / fingerprint[:12]).glob("*/*.json"):
        try:
            found.append(int(json.loads(path.read_bytes())["header"]["recording"]))
        except (ValueError, KeyError, TypeError):
            continue
    return max(found)


def publication_warning(state: State, harness: Harness) -> str:
    """Return one line when a project's first recording may become public, else nothing."""
    shelf = state.shelf
    if shelf.outside or (shelf.folder / harness.short).exists():
        return ""
    if _folders(shelf, but=harness.short):
        return ""
    host = public_host(state.project.git)
    if not host:
        return ""
    return (
        f"cassettes hold your prompts, source code and the vendor's replies: if the repository "
        f"on {host} is public, keep [cassettes] path outside it"
    )

"""Committed cassettes, as they are found in a state of the project."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from evalgate.commands.project import State
from evalgate.commands.shelved import FOLDER, shelved
from evalgate.core.exchange import Exchange
from evalgate.core.identity import storage_key
from evalgate.core.short_name import short_of
from evalgate.core.task import Task
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import one_recording
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.lines import join_lines
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.run import Job


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

    @property
    def copies(self) -> list[str]:
        """Name the recordings that hold the trial of another one: many files, and one sample."""
        return [
            f"{one.task} #{one.n} is a copy of #{first.n}"
            for many in self.trials.values()
            for one, first in copied_among(many)
        ]

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


#: What was read already of each state that is still in use, by fingerprint.
_READ: WeakKeyDictionary[State, dict[str, Recordings]] = WeakKeyDictionary()


def find_recordings(state: State, fingerprint: str) -> Recordings:
    """Return the recordings of one harness, read once a state; the folders of others are named.

    UsageError when one is damaged or lies where it does not belong, or when they are a mixture.
    """
    known = _READ.setdefault(state, {})
    if fingerprint not in known:
        known[fingerprint] = _read(state, fingerprint)
    return known[fingerprint]


def _read(state: State, fingerprint: str) -> Recordings:
    files = shelved(state)
    short = short_of(fingerprint)
    trials: dict[str, list[RecordedTrial]] = {}
    for file in files:
        if file.folder == short and file.path.endswith(".json"):
            one = file.load()
            if one.fingerprint != fingerprint:
                message = f"{file.name}: was recorded of another harness"
                raise UsageError(message, hint="a recording can not be moved between harnesses")
            if not one.evidence.counts:
                message = f"{file.name}: is {one.evidence}, which proves nothing"
                raise UsageError(message, hint="record the harness: evalgate run --record --again")
            if file.path != place_of(one):
                message = f"{file.name}: is the recording of {one.task} #{one.n}"
                raise UsageError(message, hint="restore the file where it was")
            trials.setdefault(one.task, []).append(one)
    mixed = mixture(one.tape.header for many in trials.values() for one in many)
    if mixed:
        folder = f"{state.shelf.name}/{short}"
        raise UsageError(f"{folder} is {mixed}", hint=one_recording(folder))
    folders = {file.folder for file in files}
    for found in trials.values():
        found.sort(key=lambda one: one.n)
    others = sorted(name for name in folders - {short} if FOLDER.fullmatch(name))
    return Recordings(fingerprint=fingerprint, trials=trials, others=tuple(others))


def mixture(headers: Iterable[Header]) -> str:
    """Say which recordings of one harness are mixed; nothing when there is one at most.

    Trials of one recording have the same number and the same id, or none of them has one: half
    of two recordings proves nothing.
    """
    found = {(one.recording, one.recording_id) for one in headers}
    numbers = sorted({number for number, _ in found})
    if len(numbers) > 1:
        return f"a mixture of the recordings {' and '.join(map(str, numbers))} of one harness"
    if len(found) > 1:
        return f"a mixture of {len(found)} recordings of one harness, each its number {numbers[0]}"
    return ""


def copied_among(trials: Iterable[RecordedTrial]) -> list[tuple[RecordedTrial, RecordedTrial]]:
    """Return the recordings of a task whose exchanges are those of another, with the first such.

    A model may say the same twice, but not at the same microsecond of two trials. Trials that
    asked no model can not be told apart.
    """
    first: dict[tuple[str, bytes], RecordedTrial] = {}
    found = []
    for one in trials:
        if one.tape.exchanges:
            original = first.setdefault((one.task, _content(one.tape.exchanges)), one)
            if original is not one:
                found.append((one, original))
    return found


def _content(exchanges: Sequence[Exchange]) -> bytes:
    """Digest what was asked and answered, and when: not whose trial it is said to be."""
    content = hashlib.sha256()
    for one in exchanges:
        said = (one.key, one.status, one.began, one.seconds, one.cuts, len(one.body))
        content.update(repr(said).encode())
        content.update(one.body)
    return content.digest()


def header_of(data: bytes) -> Header | None:
    """Return the header of a file, whatever else is in it; None when it has none."""
    try:
        return Header.from_json(join_lines(json.loads(data)["header"]))
    except (ValueError, KeyError, TypeError):
        return None


def place_of(one: RecordedTrial) -> str:
    """Return where a recording lies below the shelf."""
    return f"{short_of(one.fingerprint)}/{storage_key(one.task)}/{one.n}.json"

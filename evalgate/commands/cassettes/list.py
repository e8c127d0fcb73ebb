"""`evalgate cassette list`: what is recorded, harness by harness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.commands.answer import Answer, bytes_text
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.shelved import Shelved, shelved
from evalgate.commands.tables import render_rows
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.errors import ExitCode, UsageError
from evalgate.repo.subject import Subject
from evalgate.runner.recorded import RecordedTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class _Set:
    """The recordings of one harness, and how it stands to the state that is looked at."""

    short: str
    standing: str
    files: Sequence[Shelved]
    trials: Sequence[RecordedTrial]
    unreadable: Sequence[str]

    @property
    def size(self) -> int:
        return sum(len(one.data) for one in self.files)

    @property
    def tasks(self) -> Counter[str]:
        return Counter(one.task for one in self.trials)

    def to_json(self) -> dict[str, Json]:
        trials = self.trials
        models = {model for one in trials for model in one.conditions.models}
        dates = {one.tape.header.recorded for one in trials}
        return {
            "folder": self.short,
            "fingerprint": trials[0].fingerprint if trials else "",
            "harness": self.standing,
            "tasks": dict(self.tasks),
            "trials": len(trials),
            "recorded": sorted(dates - {""}),
            "recording": max((one.recording for one in trials), default=0),
            "models": sorted(models),
            "bytes": self.size,
            "unreadable": [*self.unreadable],
        }

    def row(self) -> tuple[str, ...]:
        value = self.to_json()
        many = sorted(set(self.tasks.values()))
        each = "–".join(str(count) for count in dict.fromkeys((many[0], many[-1]))) if many else "?"
        return (
            self.short,
            self.standing,
            f"{len(self.tasks)} × {each}",
            _joined(value["recorded"]),
            str(value["recording"]),
            _joined(value["models"]),
            bytes_text(self.size),
        )


def list_cassettes(project: Project, rev: str | None) -> Answer:
    """List the recordings of a state: one line a harness, and all of them together.

    Files that are damaged are named, with why, and are exit 2.
    """
    with open_state(project, subject_of(rev)) as state:
        files = shelved(state)
        current = state.fingerprint.digest
        sets = _sets(files, short_of(current), _head(project))
        strays = [one.name for one in files if not one.short]
        place = state.shelf.name
    total: dict[str, Json] = {
        "harnesses": len(sets),
        "trials": sum(len(one.trials) for one in sets),
        "bytes": sum(len(one.data) for one in files),
    }
    value: dict[str, Json] = {
        "place": place,
        "fingerprint": current,
        "harnesses": [one.to_json() for one in sets],
        "strays": [*strays],
        "total": total,
    }
    damaged = any(one.unreadable for one in sets)
    code = ExitCode.USAGE if damaged else ExitCode.OK
    return Answer(text=_text(sets, strays, place), value=value, code=code)


def _sets(files: Sequence[Shelved], current: str, head: str) -> list[_Set]:
    found = []
    for short in sorted({one.short for one in files} - {""}):
        own = [one for one in files if one.short == short]
        trials, unreadable = [], []
        for one in own:
            try:
                trials.append(one.load())
            except UsageError as error:
                unreadable.append(error.message)
        standing = "unknown" if not trials else "other"
        standing = "HEAD's" if short == head else standing
        standing = "current" if short == current else standing
        made = _Set(short=short, standing=standing, files=own, trials=trials, unreadable=unreadable)
        found.append(made)
    return found


def _head(project: Project) -> str:
    """Return the folder of HEAD's harness; nothing when HEAD has none."""
    try:
        with open_state(project, Subject.parse("HEAD")) as state:
            return state.fingerprint.short
    except UsageError:
        return ""


def _text(sets: Sequence[_Set], strays: Sequence[str], place: str) -> str:
    lines = []
    if not sets:
        lines.append(f"nothing is recorded in {place} yet: evalgate run --record")
    else:
        head = ("harness", "is", "tasks × trials", "recorded", "recording", "models", "size")
        lines.append(render_rows([head, *(one.row() for one in sets)]))
        made = counted(sum(len(one.trials) for one in sets), "trial")
        size = bytes_text(sum(one.size for one in sets))
        lines += ["", f"{made} of {counted(len(sets), 'harness')}, {size} in {place}"]
    for one in sets:
        if one.standing == "current":
            names = ", ".join(f"{task} ({count})" for task, count in sorted(one.tasks.items()))
            lines.append(f"tasks of the current harness: {names}")
        lines += [f"can not be read: {said}" for said in one.unreadable]
    lines += [f"no recording belongs there: {name}" for name in strays]
    return "\n".join(lines)


def _joined(value: Json) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""

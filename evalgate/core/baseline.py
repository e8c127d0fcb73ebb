"""A baseline: the committed numbers of a harness, with the raw values of every trial."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalgate.core.identity import FORMAT, Conditions, digest
from evalgate.core.json import Json
from evalgate.core.sample import Row, Sample, TaskSample, joint_conditions, new_rows
from evalgate.core.trial import Evidence, Outcome, Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a baseline came from; it never takes part in a comparison.

    ``date`` is a day or a time in ISO 8601; ``recordings`` counts how often this fingerprint was
    recorded so far.
    """

    evalgate: str
    commit: str
    date: str
    recordings: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no date: ValueError."""
        dt.datetime.fromisoformat(self.date)

    @property
    def day(self) -> dt.date:
        """The day on which it was made."""
        return dt.datetime.fromisoformat(self.date).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Numbers of one harness over one suite, immutable once written."""

    sample: Sample
    parts: Mapping[str, str]
    suite: str
    provenance: Provenance

    @property
    def digest(self) -> str:
        """The digest (64 hex) of everything but the provenance."""
        body = {key: value for key, value in self.to_json().items() if key != "provenance"}
        return digest(body, domain="evalgate-baseline/1")

    @property
    def filename(self) -> str:
        """The name below ``baselines/``."""
        return f"{self.sample.fingerprint[:16]}-{self.digest[:8]}.toml"

    def to_json(self) -> dict[str, Json]:
        """Return the form that is written as TOML: unknown numbers are left out."""
        sample = self.sample
        return {
            "format": FORMAT,
            "fingerprint": sample.fingerprint,
            "suite": self.suite,
            "evidence": str(sample.evidence),
            "parts": dict(self.parts),
            "conditions": sample.conditions.to_json(),
            "provenance": {
                "evalgate": self.provenance.evalgate,
                "commit": self.provenance.commit,
                "date": self.provenance.date,
                "recordings": self.provenance.recordings,
            },
            "tasks": {name: _task_to_json(task) for name, task in sorted(sample.tasks.items())},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Baseline:
        """Read the written form; KeyError, TypeError or ValueError when it is not one."""
        provenance = value["provenance"]
        return cls(
            sample=Sample(
                fingerprint=str(value["fingerprint"]),
                conditions=Conditions.from_json(value["conditions"]),
                tasks={str(k): _task_from_json(k, v) for k, v in value["tasks"].items()},
                evidence=Evidence(value["evidence"]),
                recordings=int(provenance["recordings"]),
            ),
            parts={str(name): str(part) for name, part in value["parts"].items()},
            suite=str(value["suite"]),
            provenance=Provenance(
                evalgate=str(provenance["evalgate"]),
                commit=str(provenance["commit"]),
                date=str(provenance["date"]),
                recordings=int(provenance["recordings"]),
            ),
        )


def pool(baselines: Sequence[Baseline]) -> Sample | None:
    """Pool the baselines of one harness under equal conditions into one sample.

    The newest decides the conditions and each task's digest. A trial enters once, however many
    files name its cassette or hold its numbers.
    """
    if not baselines:
        return None
    newest = max(baselines, key=lambda one: (one.provenance.date, one.digest))
    equal = [b for b in baselines if not newest.sample.conditions.differences(b.sample.conditions)]
    tasks: dict[str, TaskSample] = {}
    for baseline in sorted(equal, key=lambda one: one is not newest):
        for name, task in baseline.sample.tasks.items():
            tasks[name] = _joined(tasks[name], task) if name in tasks else task
    return replace(
        newest.sample,
        tasks=tasks,
        conditions=joint_conditions([one.sample.conditions for one in equal]),
        recordings=max(one.provenance.recordings for one in equal),
    )


def _joined(first: TaskSample, second: TaskSample) -> TaskSample:
    if first.digest != second.digest:
        return first
    more = new_rows(first.rows, second.rows)
    patch = first.passing_patch or second.passing_patch
    return replace(first, rows=(*first.rows, *more), passing_patch=patch)


def _task_to_json(task: TaskSample) -> dict[str, Json]:
    body: dict[str, Json] = {
        "digest": task.digest,
        "trials": [_row_to_json(row) for row in task.rows],
    }
    if task.passing_patch:
        body["passing_patch"] = as_written(task.passing_patch)
    return body


def _task_from_json(name: str, value: Mapping[str, Any]) -> TaskSample:
    return TaskSample(
        task=name,
        digest=str(value["digest"]),
        rows=tuple(_row_from_json(row) for row in value["trials"]),
        passing_patch=str(value.get("passing_patch", "")),
    )


def _row_to_json(row: Row) -> dict[str, Json]:
    known = {name: n for name, n in row.signals.to_json().items() if n is not None}
    body: dict[str, Json] = {"n": row.n, "outcome": str(row.outcome)}
    if row.reason:
        body["reason"] = as_written(row.reason)
    if row.cassette:
        body["cassette"] = row.cassette
    return {
        **body,
        "checks": {name: str(outcome) for name, outcome in row.checks.items()},
        "signals": known,
    }


def as_written(text: str) -> str:
    """Return a text as TOML can hold it."""
    # A reason may name a path that is no UTF-8; TOML can not hold it as it is.
    return text.encode("utf-8", "backslashreplace").decode()


def _row_from_json(value: Mapping[str, Any]) -> Row:
    return Row(
        n=int(value["n"]),
        outcome=Outcome(value["outcome"]),
        reason=str(value.get("reason", "")),
        cassette=str(value.get("cassette", "")),
        checks={str(name): Outcome(outcome) for name, outcome in value["checks"].items()},
        signals=Signals.from_json(value["signals"]),
    )

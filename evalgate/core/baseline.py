"""A baseline: the committed numbers of a harness, with the raw values of every trial."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalgate.core.identity import FORMAT, Conditions, digest
from evalgate.core.json import Json
from evalgate.core.sample import Row, Sample, TaskSample, joint_conditions, new_rows
from evalgate.core.trial import Evidence, Outcome, Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a baseline came from; it never takes part in a comparison.

    Its time says only which of a harness's baselines are older than one that took their place.

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
        return self.time.date()

    @property
    def time(self) -> dt.datetime:
        """When it was made; a day without a time is its first moment, in UTC."""
        made = dt.datetime.fromisoformat(self.date)
        return made if made.tzinfo else made.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Numbers of one harness over one suite, immutable once written.

    ``supersedes`` are the digests of baselines of the same harness that it was made to take the
    place of: the world moved, or they were wrong. It takes that of any older one as well.
    """

    sample: Sample
    parts: Mapping[str, str]
    suite: str
    provenance: Provenance
    supersedes: tuple[str, ...] = ()

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
            **({"supersedes": [*self.supersedes]} if self.supersedes else {}),
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
            supersedes=tuple(map(str, value.get("supersedes", ()))),
        )


def superseded(baselines: Iterable[Baseline]) -> dict[str, Baseline]:
    """Return those whose place another of the same harness took, by digest: each with the other.

    It took the place of those that it names, and of those that are older than itself: one that
    was accepted on another branch meanwhile is of the world as it was.
    """
    every = [*baselines]
    renewals = sorted((one for one in every if one.supersedes), key=_age)
    return {
        old.digest: new
        for new in renewals
        for old in every
        if old.sample.fingerprint == new.sample.fingerprint
        and (old.digest in new.supersedes or old.provenance.time < new.provenance.time)
    }


def current(baselines: Iterable[Baseline]) -> tuple[Baseline, ...]:
    """Return the baselines whose place no other took."""
    every = [*baselines]
    gone = superseded(every)
    return tuple(one for one in every if one.digest not in gone)


def renewed(baselines: Iterable[Baseline]) -> Baseline | None:
    """Return the newest of one harness's baselines that took the place of others, if one did."""
    places = [one for one in current(baselines) if one.supersedes]
    return max(places, key=_age, default=None)


def pool(baselines: Sequence[Baseline]) -> Sample | None:
    """Pool the baselines of one harness under equal conditions into one sample.

    What another took the place of is left out. The newest decides the conditions and each task's
    digest. A trial enters once, however many files name its cassette or hold its numbers.
    """
    kept = current(baselines)
    if not kept:
        return None
    newest = max(kept, key=_age)
    equal = [b for b in kept if not newest.sample.conditions.differences(b.sample.conditions)]
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


def _age(one: Baseline) -> tuple[dt.datetime, str]:
    return one.provenance.time, one.digest


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

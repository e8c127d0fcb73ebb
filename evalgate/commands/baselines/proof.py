"""What speaks against a committed baseline: its recordings, the ledger, numbers known before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from evalgate.commands.making.reproduction import told_apart
from evalgate.commands.project import State
from evalgate.commands.recordings import Recordings
from evalgate.commands.waive import today
from evalgate.core.baseline import Baseline, as_written, pool, superseded
from evalgate.core.counts import TaskCounts
from evalgate.core.json import Json
from evalgate.core.sample import Row, joint_conditions, new_rows
from evalgate.core.statistics import suite_p_value
from evalgate.runner.recorded import RecordedTrial
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.ledger import FOLDER, load_ledger

#: Numbers of one harness that differ by less than this probability are none of chance.
_CHANCE = 0.01

#: The clocks of two machines may be a day apart, and no more.
_GRACE = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """One thing that speaks against a baseline; ``what`` it is about is a word of a closed list.

    It is about the ``file``, a ``trial`` (of ``task``, number ``n``), a ``task``, a
    ``recording``, the ``conditions``, the ``day`` or the ``ledger``. ``committed`` is what the
    baseline says, and ``found`` what its recordings do, where both are a word.
    """

    file: str
    what: str
    said: str
    task: str = ""
    n: int = 0
    committed: str = ""
    found: str = ""

    @property
    def text(self) -> str:
        """One line."""
        return f"{self.file}: {self.said}"

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form; what is not known of it is left out."""
        value = {name: getattr(self, name) for name in ("task", "n", "committed", "found")}
        known = {name: one for name, one in value.items() if one}
        return {"file": self.file, "what": self.what, "said": self.said, **known}


def proven(baseline: Baseline, recorded: Recordings) -> int:
    """Return how many trials of a baseline have their recording."""
    there = _by_digest(recorded)
    return sum(row.cassette in there for row in baseline.sample.rows if row.cassette)


def replaced(baseline: Baseline, recorded: Recordings) -> tuple[str, ...]:
    """Name the trials of a baseline in whose place another recording lies than was counted."""
    there = _by_digest(recorded)
    return tuple(
        f"{name} #{row.n}"
        for name, task in baseline.sample.tasks.items()
        for row in task.rows
        if row.cassette and row.cassette not in there
        if any(one.n == row.n for one in recorded.trials.get(name, ()))
    )


def contradicted(baseline: Baseline, recorded: Recordings) -> list[Objection]:
    """Say what of a baseline can not be: by its recordings, or by its day."""
    there, sample = _by_digest(recorded), baseline.sample
    about = partial(Objection, file=f"{BASELINES}/{baseline.filename}")
    found: list[Objection] = []
    seen: list[RecordedTrial] = []
    for name, task in sample.tasks.items():
        for row in task.rows:
            then = there.get(row.cassette)
            if then is not None:
                seen.append(then)
                found += [
                    about(
                        what="trial",
                        said=f"{name} #{row.n} {text}",
                        task=name,
                        n=row.n,
                        committed=str(row.outcome),
                        found=str(then.measured.get("outcome")),
                    )
                    for text in _apart(row, name, then)
                ]
        if any(then.task_digest != task.digest for then in seen if then.task == name):
            said = f"{name} is another version of the task than its recordings are of"
            found.append(about(what="task", said=said, task=name))
    named = Counter(row.cassette for row in sample.rows if row.cassette)
    found += [
        about(what="recording", said=f"{times} trials name the recording {one[:12]}")
        for one, times in named.items()
        if times > 1
    ]
    found += [
        about(what="conditions", said=said, committed=told, found=then)
        for said, told, then in _other_conditions(baseline, seen)
    ]
    found += [about(what="recording", said=said) for said in recorded.copies if seen]
    if baseline.provenance.day > today() + _GRACE:
        day = str(baseline.provenance.day)
        found.append(about(what="day", said=f"its day {day} is to come", committed=day))
    return found


def unledgered(state: State, baselines: Sequence[Baseline]) -> list[Objection]:
    """Name the baselines whose numbers no entry of the ledger has.

    Raises:
        UsageError: an entry is none, or newer than this evalgate.
    """
    entries = load_ledger(state.view.read_prefix(state.project.within(FOLDER)))
    told = {(one.fingerprint, one.passed, one.measured) for one in entries}
    return [
        Objection(
            file=f"{BASELINES}/{one.filename}",
            what="ledger",
            said="no ledger entry has its numbers",
        )
        for one in baselines
        if (one.sample.fingerprint, one.sample.passed, one.sample.measured) not in told
    ]


def disagreeing(baseline: Baseline, base: State) -> list[str]:
    """Say that a baseline is not of the harness whose numbers the base has, beyond chance.

    What it takes the place of may be otherwise, and so may what took its own.
    """
    there = base.baselines(baseline.sample.fingerprint)
    gone = superseded([*there, baseline])
    known = pool([one for one in there if one.digest not in gone])
    if (
        baseline.digest in gone
        or known is None
        or known.conditions.differences(baseline.sample.conditions)
    ):
        return []
    counts = []
    for name, task in baseline.sample.tasks.items():
        before = known.tasks.get(name)
        if before is None or before.digest != task.digest:
            continue
        fresh = replace(task, rows=new_rows(before.rows, task.rows))
        counts.append(
            TaskCounts(
                task=name,
                base_passed=before.passed,
                base_runs=len(before.measured),
                head_passed=fresh.passed,
                head_runs=len(fresh.measured),
            )
        )
    worse = suite_p_value(counts, tail="lower")
    if min(worse, 1 - worse) > _CHANCE:
        return []
    then = f"{sum(one.base_passed for one in counts)}/{sum(one.base_runs for one in counts)}"
    now = f"{sum(one.head_passed for one in counts)}/{sum(one.head_runs for one in counts)}"
    return [
        f"baselines/{baseline.filename}: {now} passed, and {then} in the committed numbers of this"
        f" very harness: beyond chance (mid-p {min(worse, 1 - worse):.2g})"
    ]


def _by_digest(recorded: Recordings) -> dict[str, RecordedTrial]:
    return {one.tape.digest: one for many in recorded.trials.values() for one in many}


def _apart(row: Row, task: str, then: RecordedTrial) -> list[str]:
    if then.task != task:
        return [f"names the recording of {then.task} #{then.n}"]
    outcome = str(then.measured.get("outcome"))
    if outcome != row.outcome:
        return [f"{row.outcome}, its recording {outcome}"]
    measured = {
        **then.measured,
        "reason": as_written(str(then.measured.get("reason"))),
        "checks": _outcomes(then.measured.get("checks")),
    }
    text = told_apart(
        measured,
        {
            "outcome": str(row.outcome),
            "reason": row.reason,
            "checks": {name: str(outcome) for name, outcome in row.checks.items()},
            "signals": row.signals.to_json(),
        },
    )
    return [f"is not what was recorded: {text}"] if text else []


def _outcomes(checks: Json) -> Json:
    many = checks if isinstance(checks, list) else []
    return {str(one["name"]): one["outcome"] for one in many if isinstance(one, dict)}


def _other_conditions(
    baseline: Baseline, seen: Sequence[RecordedTrial]
) -> list[tuple[str, str, str]]:
    """Compare all but the checks' versions, which are those of the day it was graded."""
    if not seen:
        return []
    told = baseline.sample.conditions
    then = joint_conditions([one.conditions for one in seen])
    if len(seen) < len(baseline.sample.rows):  # the others may have had some of their own
        strange = sorted({*then.models} - {*told.models})
        names = ", ".join(strange)
        said = f"does not name the model {names} of its recordings"
        return [(said, "", names)] if strange else []
    mine, theirs = replace(told, checks={}).to_json(), replace(then, checks={}).to_json()
    pairs = {
        name: (str(mine.get(name) or "none"), str(theirs.get(name) or "none"))
        for name in sorted({*mine, *theirs})
        if mine.get(name) != theirs.get(name)
    }
    return [
        (f"{name}: {told}, in its recordings {then}", told, then)
        for name, (told, then) in pairs.items()
    ]

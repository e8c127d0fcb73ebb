"""The health of a suite by the trials that are known: which tasks say nothing, is it enough?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

from evalgate.core.files import tree_digest
from evalgate.core.json import Json
from evalgate.core.task import Task
from evalgate.core.trial import Outcome

#: Fewer trials than this say nothing of a task.
ENOUGH: Final = 5
#: A harness that passes a task more seldom than this and less often than the rest of it is unsure.
_UNSURE: Final = (0.2, 0.8)
_LIMIT: Final = re.compile(r"the agent reached its time limit of|the limit of .* (?:is|was) ")
_ALIKE: Final = 0.8


class Ailment(StrEnum):
    """What a suite can suffer from."""

    SATURATED = "saturated"
    NEVER_PASSING = "never-passing"
    FLAKY = "flaky"
    BOUND_BY_LIMITS = "bound-by-limits"
    DUPLICATES = "duplicates"
    TOO_FEW = "too-few"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One ailment: the tasks it is about, none for the whole suite, and one line."""

    ailment: Ailment
    said: str
    tasks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"ailment": str(self.ailment), "said": self.said, "tasks": list(self.tasks)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A trial that is known of a task: of which harness, how it ended, and why."""

    harness: str
    outcome: Outcome
    reason: str = ""


def complaints_of(
    tasks: Sequence[Task], known: Mapping[str, Sequence[Known]]
) -> Iterator[Complaint]:
    """Yield what single tasks suffer from, and several together; ``known`` is by the task's id."""
    for task in tasks:
        measured = [one for one in known.get(task.id, ()) if one.outcome is not Outcome.ERRORED]
        passed = sum(one.outcome is Outcome.PASSED for one in measured)
        if len(measured) >= ENOUGH:
            yield from _of_rates(task.id, measured, passed)
        yield from _of_limits(task, measured)
    yield from _duplicates(tasks)


def _of_rates(task: str, measured: Sequence[Known], passed: int) -> Iterator[Complaint]:
    harnesses = {one.harness for one in measured}
    of = f"of {len(measured)} known trials by {len(harnesses)} harness(es)"
    if passed == len(measured):
        said = f"{task}: all {of} passed: it can show no improvement"
        yield Complaint(ailment=Ailment.SATURATED, said=said, tasks=(task,))
    elif not passed:
        said = f"{task}: none {of} passed: it can show no drop"
        yield Complaint(ailment=Ailment.NEVER_PASSING, said=said, tasks=(task,))
    for harness in sorted(harnesses):
        own = [one.outcome is Outcome.PASSED for one in measured if one.harness == harness]
        rate = sum(own) / len(own)
        if len(own) >= ENOUGH and _UNSURE[0] < rate < _UNSURE[1]:
            said = f"{task}: passes {sum(own)} of {len(own)} times with the harness {harness[:12]}"
            yield Complaint(ailment=Ailment.FLAKY, said=said, tasks=(task,))
            return


def _of_limits(task: Task, measured: Sequence[Known]) -> Iterator[Complaint]:
    failed = [one for one in measured if one.outcome is Outcome.FAILED]
    bound = sum(bool(_LIMIT.search(one.reason)) for one in failed)
    if bound >= 2 and bound * 2 >= len(failed):  # noqa: PLR2004 - one may be an accident
        limits = f"{task.limits.agent_seconds:g} s and {task.limits.max_turns} turns"
        said = f"{task.id}: {bound} of {len(failed)} failed trials reached its limits ({limits})"
        yield Complaint(ailment=Ailment.BOUND_BY_LIMITS, said=said, tasks=(task.id,))


def _duplicates(tasks: Sequence[Task]) -> Iterator[Complaint]:
    parts: Sequence[tuple[str, Callable[[Task], object]]] = (
        ("ask the same", lambda task: " ".join(task.instruction.split())),
        (
            "have the same hidden tests and start from the same files",
            lambda task: (
                tree_digest(task.tests, domain="tests"),
                tree_digest(task.workspace, domain="workspace"),
            ),
        ),
    )
    told: list[set[str]] = []
    for said, part in parts:
        groups: dict[object, list[str]] = {}
        for task in tasks:
            groups.setdefault(part(task), []).append(task.id)
        for ids in groups.values():
            if len(ids) > 1 and not any(group.issuperset(ids) for group in told):
                told.append(set(ids))
                yield _duplicate(said, *ids)
    for one, other in combinations(tasks, 2):
        if any(group.issuperset({one.id, other.id}) for group in told):
            continue
        if alike(one.instruction, other.instruction) >= _ALIKE:
            yield _duplicate("ask nearly the same", one.id, other.id)


def _duplicate(said: str, *ids: str) -> Complaint:
    *first, last = ids
    said = f"{', '.join(first)} and {last} {said}"
    return Complaint(ailment=Ailment.DUPLICATES, said=said, tasks=ids)


def alike(one: str, other: str) -> float:
    """Return the share of words, 0 to 1, that two texts have in common (Jaccard)."""
    first, second = _words(one), _words(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def stored_of(
    tasks: Iterable[Task], known: Mapping[str, Sequence[Known]], *, trials: int
) -> dict[str, tuple[int, int]]:
    """Return passes and runs of each task; what nobody measured is taken to pass 4 of 5 times."""
    stored = {}
    for task in tasks:
        ends = [one.outcome for one in known.get(task.id, ()) if one.outcome is not Outcome.ERRORED]
        stored[task.id] = (
            (ends.count(Outcome.PASSED), len(ends)) if ends else (round(0.8 * trials), trials)
        )
    return stored

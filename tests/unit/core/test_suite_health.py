"""Which tasks of a suite say nothing."""

from __future__ import annotations

import pytest

from evalgate.core.files import File
from evalgate.core.suite_health import Known, complaints_of, stored_of
from evalgate.core.task import Task
from evalgate.core.trial import Outcome

P, F, E = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED


def make(id_: str, instruction: str = "", test: str = "") -> Task:
    return Task(
        id=id_,
        instruction=instruction or " ".join(f"{id_}{n}" for n in range(12)),
        workspace={},
        tests={"test.sh": File(data=(test or id_).encode())},
        digest=id_,
    )


def known(*ends: Outcome, harness: str = "h", reason: str = "") -> list[Known]:
    return [Known(harness=harness, outcome=end, reason=reason) for end in ends]


@pytest.mark.parametrize(
    ("trials", "ailments"),
    [
        (known(*[P] * 5), ["saturated"]),
        (known(*[P] * 4, E), []),
        (known(*[F] * 5), ["never-passing"]),
        (known(*[P] * 5) + known(*[F] * 5, harness="i"), []),
        (known(P, F, P, F, P), ["flaky"]),
        (known(P, P) + known(F, F, reason="the agent reached its time limit of 120 s"),
         ["bound-by-limits"]),
        (known(P, P) + known(F, F, reason="the limit of 15 model turns is reached"),
         ["bound-by-limits"]),
        (known(P) + known(F, reason="the limit of 15 model turns is reached") + known(F, F), []),
    ],
)  # fmt: skip
def test_by_known_trials(trials: list[Known], ailments: list[str]) -> None:
    """Too few trials say nothing, and what was not measured is none."""
    found = complaints_of([make("a")], {"a": trials})
    assert [str(one.ailment) for one in found] == ailments


@pytest.mark.parametrize(
    ("other", "twins"),
    [
        (make("b"), False),
        (make("b", instruction=make("a").instruction), True),
        (make("b", test="a"), True),
        (make("b", instruction=f"{make('a').instruction} Now."), True),
    ],
)
def test_duplicates(other: Task, twins: bool) -> None:
    """Two that ask the same, or are graded the same from the same files."""
    found = list(complaints_of([make("a"), other], {}))
    assert [one.tasks for one in found] == [("a", "b")] * twins


def test_many_duplicates_are_told_together() -> None:
    """One line for all that ask the same, and no other for a pair of them."""
    asking = make("a").instruction
    tasks = [
        make("a"),
        make("b", asking, "a"),
        make("c", asking),
        make("d", test="c"),
        make("e", f"{make('d').instruction} Now."),
    ]
    assert [one.said for one in complaints_of(tasks, {})] == [
        "a, b and c ask the same",
        "c and d have the same hidden tests and start from the same files",
        "d and e ask nearly the same",
    ]


def test_what_nobody_measured_is_taken_to_be_fair() -> None:
    """Errored trials are none."""
    tasks = [make("a"), make("b")]
    assert stored_of(tasks, {"a": known(P, F, E)}, trials=5) == {"a": (1, 2), "b": (4, 5)}

"""A plan of a run: one text on disk, read as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.core.run_plan import PlannedTrial, RunPlan
from evalgate.core.trial import Evidence
from tests.plans import plan

#: As it stands on disk since there are runs.
PLAIN = {
    "kind": "run",
    "evidence": "measured",
    "evalgate": "0.1.0",
    "fingerprint": "f" * 64,
    "parts": {"prompt": "p"},
    "suite": "s",
    "sandbox": "process",
    "agent": "",
    "tasks": {"a": "1", "b": "2"},
    "trials": [["a", 1, ""], ["b", 2, "tape"]],
}
TRIALS = (PlannedTrial(task="a", n=1), PlannedTrial(task="b", n=2, recording="tape"))
MORE: dict[str, Any] = {
    "images": {"sandbox": "sha256:a"},
    "faults": "x",
    "beside": "e" * 64,
    "series": "confirm-1",
    "prices": "abc",
    "tripwires": "w",
}


@pytest.mark.parametrize("name", [None, *MORE])
def test_it_is_written_as_ever_and_read_again(name: str | None) -> None:
    """What a plan does not have is left out, so that older runs go on."""
    more = {} if name is None else {name: MORE[name]}
    one = plan(trials=TRIALS, **more)
    assert one.to_json() == {**PLAIN, **more}
    assert RunPlan.from_json({**PLAIN, **more}) == one


@pytest.mark.parametrize("value", [{}, {**PLAIN, "trials": [["a"]]}, {**PLAIN, "tasks": []}])
def test_what_is_no_plan_is_refused(value: dict[str, Any]) -> None:
    """By one of the errors that it names."""
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        RunPlan.from_json(value)


def test_what_a_plan_is_worth_is_one_of_the_kinds_of_evidence() -> None:
    """It is read as such."""
    assert RunPlan.from_json({**PLAIN, "evidence": "replayed"}).evidence is Evidence.REPLAYED

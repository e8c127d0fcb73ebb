"""What is said while trials are made, where nobody watches."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from evalgate.commands.console import Console
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.trial import Evidence, Outcome, Trial

TRIAL = Trial(
    task="greet",
    key=TrialKey(task_digest="d", fingerprint="f" * 64, series="main", n=1),
    outcome=Outcome.PASSED,
    conditions=Conditions(sandbox="process", agent=""),
    evidence=Evidence.MEASURED,
)


@dataclass
class Clock:
    """Goes on by so many seconds each time a trial ends."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def paces(capsys, seconds: float, *, quiet: bool = False) -> list[str]:
    """Return the lines about the pace of ten trials that take so many seconds each."""
    clock = Clock()
    console = Console(quiet=quiet, clock=clock)
    with console.progress(lambda: 0.25):
        console.begin(total=10, done=2)
        for _ in range(8):
            clock.now += seconds
            console.finished(TRIAL)
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if "$0.2500" in line]


def test_a_line_now_and_then_says_how_far_it_is(capsys):
    """With time and money; not for each trial, nor once all are done."""
    assert paces(capsys, 20.0) == [
        "[4/10] 0:40, about 2:00 left, $0.2500",
        "[6/10] 1:20, about 1:20 left, $0.2500",
        "[8/10] 2:00, about 0:40 left, $0.2500",
    ]


@pytest.mark.parametrize(("seconds", "quiet"), [(1.0, False), (20.0, True)])
def test_it_is_sparse(capsys, seconds, quiet):
    """A short run has none, and a quiet one neither."""
    assert paces(capsys, seconds, quiet=quiet) == []

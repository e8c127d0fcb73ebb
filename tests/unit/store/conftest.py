"""Trials and baselines to be written down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evalgate.core.baseline import Baseline, Provenance
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.sample import sample_of
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial


@pytest.fixture(scope="session")
def trial() -> Callable[..., Trial]:
    """Make trials of a task: ``trial(2, task="greet")``."""

    def make(n: int = 1, *, task: str = "greet", patch: str = "", reason: str = "") -> Trial:
        return Trial(
            task=task,
            key=TrialKey(task_digest="d1", fingerprint="f" * 64, series="main", n=n),
            outcome=Outcome.FAILED if reason else Outcome.PASSED,
            reason=reason,
            checks=(CheckResult(name="hidden tests", outcome=Outcome.PASSED),),
            signals=Signals(seconds=1.25, turns=3),
            conditions=Conditions(sandbox="process", agent=""),
            evidence=Evidence.MEASURED,
            patch=patch,
        )

    return make


@pytest.fixture(scope="session")
def baseline(trial: Callable[..., Trial]) -> Callable[..., Baseline]:
    """Make a baseline of a few trials, with a passing patch."""

    def make(trials: int = 2, *, fingerprint: str = "f" * 64, patch: str = "") -> Baseline:
        sample = sample_of(
            [trial(n, patch=patch) for n in range(1, trials + 1)],
            fingerprint=fingerprint,
            evidence=Evidence.MEASURED,
        )
        return Baseline(
            sample=sample,
            parts={"prompt": "p" * 64},
            suite="s" * 64,
            provenance=Provenance(evalgate="0.1.0", commit="c" * 40, date="2026-01-01"),
        )

    return make

"""Builders of core values, small enough to read in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from evalgate.core.identity import Conditions
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome

_WORDS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERRORED}


@pytest.fixture(scope="session")
def conditions() -> Conditions:
    """What every sample is measured under unless a test says otherwise."""
    return Conditions(
        sandbox="process",
        agent="",
        models=("m-1",),
        checks={"file_exists": 1},
        images={"sandbox": "a"},
        promises={"own_network": True},
    )


@pytest.fixture(scope="session")
def sample(conditions: Conditions) -> Callable[..., Sample]:
    """Make a sample from words: ``sample(greet="ppf", add="fe")``, one letter a trial."""

    def make(
        under: Conditions = conditions,
        digests: Mapping[str, str] | None = None,
        **tasks: str,
    ) -> Sample:
        return Sample(
            fingerprint="f" * 64,
            conditions=under,
            tasks={
                name: TaskSample(
                    task=name,
                    digest=(digests or {}).get(name, "d1"),
                    rows=tuple(
                        Row(
                            n=n,
                            outcome=_WORDS[letter],
                            reason="" if letter == "p" else f"reason of {letter}",
                            checks={"hidden tests": _WORDS[letter]},
                        )
                        for n, letter in enumerate(letters, 1)
                    ),
                )
                for name, letters in tasks.items()
            },
            evidence=Evidence.MEASURED,
        )

    return make

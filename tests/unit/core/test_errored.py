"""Errored trials of both sides: told whenever there are any, and Fisher's test of their shares."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from scipy.stats import fisher_exact

from evalgate.core.errored import Errored
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.sample import Sample

Make = Callable[..., Sample]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ((0, 60), (2, 20)),
        ((0, 60), (3, 20)),
        ((5, 60), (1, 20)),
        ((3, 3), (3, 3)),
        ((1, 4), (4, 4)),
    ],
)
def test_it_is_fishers_test(base: tuple[int, int], head: tuple[int, int]) -> None:
    """One-sided: is the head's share higher?"""
    table = [[one[0], one[1] - one[0]] for one in (head, base)]
    expected = fisher_exact(table, alternative="greater").pvalue
    assert Errored(base=base, head=head).p_more == pytest.approx(expected)


def test_errored_trials_are_told_with_a_verdict(sample: Make) -> None:
    """Also below the share that is not measured."""
    verdict = judge(sample(a="p" * 60), sample(a="p" * 18 + "ee"), Policy())
    assert verdict.errored is not None
    assert verdict.errored.sentence.startswith(
        "2 of 20 trials of the head errored (0 of 60 of the base): 2 × "
    )
    told = json.loads(json.dumps(verdict.to_json()))["errored"]
    assert told["head"] == {"errored": 2, "trials": 20}
    assert told["base"] == {"errored": 0, "trials": 60}
    assert len(told["reasons"]) == 1


def test_nothing_errored_is_nothing_told(sample: Make) -> None:
    """Nor what is in quarantine."""
    assert judge(sample(a="ppp"), sample(a="ppp"), Policy()).errored is None

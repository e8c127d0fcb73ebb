"""A head held against the last release, beside its parent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from evalgate.core.anchor import since, turned
from evalgate.core.decision import Decision
from evalgate.core.identity import Conditions
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.sample import Sample
from evalgate.core.verdict import ANCHOR
from evalgate.errors import ExitCode

Make = Callable[..., Sample]
BLOCKING = Policy(anchor="v*", anchor_blocks=True)


def falling(sample: Make, failures: int) -> Sample:
    """Return twelve tasks of ten trials, some of which fail, spread over the tasks."""
    tasks = {}
    for number in range(12):
        failed = failures // 12 + (number < failures % 12)
        tasks[f"t{number}"] = "p" * (10 - failed) + "f" * failed
    return sample(**tasks)


def test_many_small_steps_down_are_seen(sample: Make) -> None:
    """Twelve changes of a point and a half each: no parent sees one, the release sees them all."""
    steps = [falling(sample, 12 + round(1.8 * step)) for step in range(13)]
    for parent, child in pairwise(steps):
        assert judge(parent, child, BLOCKING).decision is not Decision.REGRESSION
    found = since("v1.2", steps[0], steps[-1], BLOCKING)
    assert found.worse
    assert found.sentence.startswith("Since v1.2: 90 % → 72 % (-18.3 points, 90 % interval ")
    assert "which is more than chance" in found.sentence
    verdict = turned(judge(steps[-2], steps[-1], BLOCKING), found)
    assert verdict.exit_code is ExitCode.REGRESSION
    assert verdict.sentence.startswith("This is worse than the last release. Since v1.2: ")
    assert verdict.reasons[0].startswith("against its parent: No detectable change")
    assert verdict.blocked_by == {ANCHOR}
    assert verdict.absolute


def test_an_anchor_decides_nothing_by_itself(sample: Make) -> None:
    """Nor does it turn what ended otherwise than by finding nothing."""
    before, after = falling(sample, 0), falling(sample, 40)
    shown = Policy(anchor="v*")
    same = judge(after, after, shown)
    assert turned(same, since("v1", before, after, shown)) is same
    assert not since("v1", before, before, BLOCKING).worse
    unmeasured = replace(judge(after, after, BLOCKING), decision=Decision.WAIVED)
    assert turned(unmeasured, since("v1", before, after, BLOCKING)) is unmeasured
    assert "anchor v*, which blocks as well" in BLOCKING.sentence
    with pytest.raises(ValueError, match="asks for an anchor"):
        Policy(anchor_blocks=True)


def test_a_release_of_another_model_is_not_compared(sample: Make, conditions: Conditions) -> None:
    """It is said, and blocks nothing."""
    other = sample(replace(conditions, models=("m-0",)), t="pppppppp")
    found = since("v1", other, sample(t="ffffffff"), BLOCKING)
    assert found.sentence == "Since v1: not to be compared, models served: m-0 against m-1"
    assert (found.worse, found.difference) == (False, None)
    assert found.to_json()["difference"] is None

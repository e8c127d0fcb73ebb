"""Which trials are to be read, and how many were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.made_runs import made_report
from evalgate.core.reading import SAMPLE, Readership, readership, reading_list, trial_name
from evalgate.core.sample import sample_of
from evalgate.core.trial import Evidence, Outcome, Signals
from evalgate.core.tripwires import Hit

TRIALS = made_report(10, 10).trials
PASSED = next(one for one in TRIALS if one.outcome is Outcome.PASSED)
USUAL = [
    replace(PASSED, task=task, key=replace(PASSED.key, n=n), signals=Signals())
    for task in ("a", "b")
    for n in range(1, 11)
]


def listed(trials, **more):
    options = {"sample": SAMPLE, "seed": "s", **more}
    return [(one.trial.task, one.trial.key.n, one.why) for one in reading_list(trials, **options)]


def test_everybody_with_a_seed_reads_the_same():
    """In whatever order the trials come; another seed draws others."""
    assert listed(TRIALS) == listed(TRIALS[::-1])
    assert listed(TRIALS) == listed(TRIALS)
    assert listed(USUAL) != listed(USUAL, seed="t")


@pytest.mark.parametrize("sample", [1, 5, 1000])
def test_no_more_than_there_are(sample):
    """And each trial once."""
    found = listed(USUAL, sample=sample)
    assert len(found) == len(set(found)) == min(sample, len(USUAL))


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ({"tripwires": (Hit(name="history", place="log", excerpt="git log"),)}, "tripwire history"),
        ({"patch": ""}, "changed nothing"),
        ({"signals": Signals(files_outside=1)}, "files that nobody expected"),
    ],
)
def test_a_pass_that_surprises_comes_first(odd, why):
    """Whatever the seed; what did not pass surprises nobody."""
    trials = [*USUAL[:7], replace(USUAL[7], **odd), *USUAL[8:]]
    for seed in "stuv":
        task, n, told = listed(trials, seed=seed)[0]
        assert (task, n) == (USUAL[7].task, USUAL[7].key.n)
        assert why in told
    failed = [*USUAL[:7], replace(USUAL[7], outcome=Outcome.FAILED, **odd), *USUAL[8:]]
    assert {told for _, _, told in listed(failed, sample=100)} == {"drawn"}


def test_a_rare_pass_and_a_first_one_surprise():
    """One of ten, and of a task that nothing passed before; the latter more."""
    rare = [replace(one, outcome=Outcome.FAILED) for one in USUAL[1:10]]
    trials = [USUAL[0], *rare, *USUAL[10:]]
    assert listed(trials)[0] == ("a", 1, "passed, as 1 of 10 trials of its task did")
    assert {task for task, _, _ in listed(trials, new=("b",))} == {"b"}


def test_readers_are_counted_once_a_trial():
    """Each trial once, however often somebody reads it; what belongs to other runs not at all."""
    sample = sample_of(USUAL, fingerprint="f1" * 32, evidence=Evidence.MEASURED)
    names = [trial_name("f1" * 32, one.task, one.key.n, one.cassette) for one in USUAL]
    assert readership(sample, {}) == Readership(of=5, read=0, by={})
    assert readership(sample, {}).sentence == "0 of 5 read"
    reads = {names[0]: ("Ada", "Ada", "Bob"), names[1]: ("Ada",), "elsewhere": ("Eve",)}
    found = readership(sample, reads)
    assert (found.read, found.by) == (2, {"Ada": 2, "Bob": 1})
    assert found.sentence == "2 of 5 read (Ada 2, Bob 1)"
    all_ = readership(sample, dict.fromkeys(names, ("Ada",)))
    assert all_.sentence == "20 of 20 read (Ada 20)"
    few = sample_of(USUAL[:2], fingerprint="f1" * 32, evidence=Evidence.MEASURED)
    assert readership(few, {}).sentence == "0 of 2 read"

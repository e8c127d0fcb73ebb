"""The course of a live gate as a decision, in words; and how gates on known rates come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from evalgate.core.change import Change
from evalgate.core.confirmation import confirm
from evalgate.core.counts import TaskCounts
from evalgate.core.course import Course
from evalgate.core.decision import Decision
from evalgate.core.judgement import judge_course
from evalgate.core.policy import Policy
from evalgate.core.rounds import Sign, look, look_up
from evalgate.core.rule import can_block, noise_of
from evalgate.core.sample import Sample
from evalgate.core.simulation import lowered, outlook
from evalgate.core.verdict import counts_of, prepare

Make = Callable[..., Sample]


def fresh(*cells: tuple[int, int], runs: int = 5) -> list[TaskCounts]:
    """Return fresh runs of tasks t0, t1, ...: passes of base and of head."""
    return [
        TaskCounts(task=f"t{n}", base_passed=base, base_runs=runs, head_passed=head, head_runs=runs)
        for n, (base, head) in enumerate(cells)
    ]


def many(letters: list[str]) -> dict[str, str]:
    """Name tasks t0, t1, ..."""
    return {f"t{index}": word for index, word in enumerate(letters)}


def course_of(sample: Make, base: list[str], head: list[str]) -> tuple:
    """Return what is prepared, and a course of one look."""
    policy = Policy()
    prepared = prepare(sample(**many(base)), sample(**many(head)), policy)
    counts = counts_of(prepared.changes)
    runs = len(head[0])
    seen = look(counts, runs=runs, planned=5, margin=policy.margin)
    return prepared, Course(looks=(seen,), counts=counts)


def test_a_confirmed_drop_tells_the_fresh_difference(sample: Make) -> None:
    """And beside it what the stored baseline said."""
    prepared, found = course_of(sample, ["ppppp"] * 6, ["ff"] * 6)
    again = fresh(*[(5, 2)] * 6)
    found = replace(found, confirmed=confirm(found.last, again), fresh=again)
    verdict = judge_course(prepared, found, planned=5)
    assert verdict.decision is Decision.REGRESSION
    assert verdict.difference is not None
    assert verdict.difference.point == pytest.approx(-0.6)
    assert "100 % → 40 % (-60.0 points" in verdict.sentence
    assert verdict.reasons[0].startswith("against the stored baseline: 100 % → 0 %")


def test_a_confirmed_task_is_named(sample: Make) -> None:
    """Where the suite as a whole did not fall."""
    prepared, found = course_of(sample, ["ppppp", *["pppff"] * 8], ["ff", *["pf", "pp"] * 4])
    assert found.last.tasks == ("t0",)
    assert not found.last.suite
    again = fresh((5, 0))
    found = replace(found, confirmed=confirm(found.last, again), fresh=again)
    verdict = judge_course(prepared, found, planned=5)
    assert verdict.decision is Decision.REGRESSION
    assert verdict.sentence.endswith("made side by side; broken: t0.")
    assert verdict.changes[0].change is Change.REGRESSED


def test_a_base_that_moved_is_no_regression(sample: Make) -> None:
    """Nor is it a pass: exit 3."""
    prepared, found = course_of(sample, ["ppppp"] * 6, ["ff"] * 6)
    again = fresh(*[(1, 1)] * 6)
    found = replace(found, confirmed=confirm(found.last, again), fresh=again, moved=True)
    verdict = judge_course(prepared, found, planned=5)
    assert verdict.decision is Decision.MOVED
    assert int(verdict.exit_code) == 3


def test_a_gain_counts_once_it_is_confirmed(sample: Make) -> None:
    """Else it is a pass that tells of it."""
    prepared, found = course_of(sample, ["pffff"] * 8, ["pp"] * 8)
    gain = look_up(found.counts, alpha=0.04)
    for again, decision in (
        (fresh(*[(0, 3)] * 8, runs=3), Decision.IMPROVED),
        (fresh(*[(2, 2)] * 8, runs=3), Decision.PASS),
    ):
        back = [one.swapped for one in again]
        ended = replace(found, gain=gain, confirmed=confirm(gain, back), fresh=again)
        verdict = judge_course(prepared, ended, planned=5)
        assert verdict.decision is decision, verdict.sentence
        if decision is Decision.PASS:
            assert "a gain was suspected and not confirmed" in verdict.sentence


def test_a_gate_that_can_never_block_is_known_beforehand() -> None:
    """Too few trials, or tasks that never passed."""
    assert can_block({"a": (5, 5), "b": (5, 5)}, Policy(), runs=5)
    assert not can_block({"a": (1, 1), "b": (1, 1)}, Policy(), runs=1)
    assert not can_block({"a": (0, 20)}, Policy(), runs=20)
    assert not can_block({}, Policy(), runs=5)


def test_the_noise_is_what_stays_open_where_nothing_fell() -> None:
    """More trials, of more tasks or of surer ones, leave less of it; it is that of the interval."""
    many = {f"t{n}": (10, 20) for n in range(12)}
    usual = noise_of(many, runs=5)
    assert 0.1 < usual < 0.25
    assert noise_of(many, runs=20) < usual < noise_of(dict(list(many.items())[:3]), runs=5)
    assert noise_of(dict.fromkeys(many, (20, 20)), runs=5) < usual
    assert noise_of({**many, "never ran": (0, 0)}, runs=5) == usual


def test_a_drop_is_taken_from_the_tasks_that_have_it() -> None:
    """The mean falls by it, and none falls below nothing."""
    rates = [1.0, 0.6, 0.05, 0.0]
    found = lowered(rates, 0.2)
    assert sum(found) == pytest.approx(sum(rates) - 0.8)
    assert found[2:] == [0.0, 0.0]
    assert lowered([0.1], 0.5) == [0.0]


def test_an_outlook_is_the_same_every_time() -> None:
    """And a larger drop is found more often."""
    stored = {f"t{n}": (n % 6, 5) for n in range(12)}
    calm, small, large = (
        outlook(stored, Policy(), planned=5, drop=drop, gates=60) for drop in (0.0, 0.15, 0.4)
    )
    assert calm == outlook(stored, Policy(), planned=5, drop=0.0, gates=60)
    assert calm.blocked <= 0.1
    assert calm.blocked < small.blocked < large.blocked
    assert large.blocked >= 0.9
    assert 2 * 12 <= calm.spent <= 15 * 12


@pytest.mark.parametrize(
    ("base", "head", "wanted", "decision"),
    [
        ("pfffffffff", "fff", 5, Decision.BUDGET),  # five trials would have gone on here
        ("ppppffffff", "p", 3, Decision.BUDGET),  # up to three are looked at once, at the third
        ("ppppffffff", "pf", 20, Decision.BUDGET),  # twenty are looked at after four
        ("ppppffffff", "pff", 5, Decision.UNDECIDED),  # five would have ended as well: no sign
        ("ppppffffff", "pff", 3, Decision.UNDECIDED),  # there are as many as were to be
        ("pfffffffff", "fff", None, Decision.UNDECIDED),  # no money set it
    ],
)
def test_a_budget_that_pays_for_too_few_trials_to_decide_is_no_pass(
    sample: Make, base: str, head: str, wanted: int | None, decision: Decision
) -> None:
    """Where the rounds would have ended all the same, money ended nothing."""
    prepared, found = course_of(sample, [base] * 3, [head] * 3)
    made = len(head)
    found = replace(found, looks=(look(found.counts, runs=made, planned=made, margin=0.1),))
    verdict = judge_course(prepared, found, planned=made, wanted=wanted)
    assert verdict.decision is decision, verdict.sentence
    inconclusive = verdict.sentence.startswith("Inconclusive: the budget pays for no more trials")
    assert inconclusive is (decision is Decision.BUDGET)
    assert verdict.advice is not None
    assert str(verdict.advice.word) == "cannot tell"


@pytest.mark.parametrize(
    ("base", "head", "end"),
    [
        ("p", "p", "So few trials exclude no drop."),
        ("ff", "ff", "The base passes nothing: no drop is left."),
        ("ppppp", "pp", "A drop of more than {} points is unlikely."),
    ],
)
def test_an_early_stop_speaks_of_no_drop_that_can_not_be(
    sample: Make, base: str, head: str, end: str
) -> None:
    """A base can not fall by more than it passes."""
    prepared, found = course_of(sample, [base] * 3, [head] * 3)
    found = replace(found, looks=(found.last._replace(sign=Sign.NO_SIGN),))
    sentence = judge_course(prepared, found, planned=5).sentence
    left = round(-100 * found.last.difference.low)
    assert sentence.endswith(end.format(left)), sentence

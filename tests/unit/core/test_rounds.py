"""The rounds of a live gate, their suspicions and answers, and the confirmation after them."""

from __future__ import annotations

import math
from collections.abc import Generator

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.confirmation import Plan, baseline_moved, confirm, most_confirming_runs, plan_of
from evalgate.core.counts import TaskCounts
from evalgate.core.course import Counts, Course, Round, Wanted, course
from evalgate.core.normal import normal_cdf, normal_quantile
from evalgate.core.policy import Policy
from evalgate.core.rounds import Sign, look, look_up, looks


def suite(*cells: tuple[int, int, int, int]) -> list[TaskCounts]:
    """Name the cells (base passed, base runs, head passed, head runs) T-0, T-1, ..."""
    return [
        TaskCounts(task=f"T-{n}", base_passed=bp, base_runs=bn, head_passed=hp, head_runs=hn)
        for n, (bp, bn, hp, hn) in enumerate(cells)
    ]


#: A little better than before, in a suite too small to say more.
CALM = [(3, 5, 1, 2), (3, 5, 1, 2), (3, 5, 2, 2)] * 3


def even(base: int, head: int, runs: int, *, tasks: int = 12, stored: int = 5) -> list[TaskCounts]:
    """Return a suite in which every task is alike."""
    return suite(*[(base, stored, head, runs)] * tasks)


@given(st.floats(1e-9, 1 - 1e-9))
def test_quantiles_are_those_of_scipy(p: float) -> None:
    """And the distribution function undoes them."""
    assert normal_quantile(p) == pytest.approx(scipy.stats.norm.ppf(p), abs=1e-7)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, math.nan])
def test_there_is_no_quantile_beyond_the_ends(p: float) -> None:
    """Nor of what is no chance."""
    with pytest.raises(ValueError, match="no quantile"):
        normal_quantile(p)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (1, (1,)),
        (3, (3,)),
        (4, (2, 3, 4)),
        (5, (2, 3, 4, 5)),
        (10, (2, 4, 6, 8, 10)),
        (20, (4, 8, 12, 16, 20)),
    ],
)
def test_when_it_is_looked(runs: int, expected: tuple[int, ...]) -> None:
    """Few looks, the last of them at all runs."""
    assert looks(runs) == expected


@given(st.integers(1, 200))
def test_looks_go_up_to_all_runs(runs: int) -> None:
    """However many there are, and at most half a dozen."""
    found = looks(runs)
    assert found[-1] == runs
    assert list(found) == sorted(set(found))
    assert len(found) <= 6


def test_a_suite_that_falls_is_suspected_and_not_blocked() -> None:
    """A look has no block to give."""
    found = look(even(4, 0, 2), runs=2, planned=5, margin=0.1)
    assert found.sign is Sign.SUSPECT
    assert found.suite


def test_one_task_that_broke_is_suspected_alone() -> None:
    """Where all others are as they were."""
    found = look(
        suite((5, 5, 0, 2), *[(3, 5, 1, 2), (3, 5, 2, 2)] * 5), runs=2, planned=5, margin=0.1
    )
    assert (found.sign, found.tasks) == (Sign.SUSPECT, ("T-0",))
    assert not found.suite


def test_at_most_three_tasks_are_suspected_the_worst_first() -> None:
    """By their p; with one run of each, five of those that fell by half or more."""
    found = look(
        suite(*[(5, 5, 0, 5)] * 2, *[(5, 5, 1, 5)] * 3, *[(0, 5, 5, 5)] * 5),
        runs=5,
        planned=5,
        margin=0.1,
    )
    assert found.tasks == ("T-0", "T-1", "T-2")
    single = look(suite(*[(1, 1, 0, 1)] * 7, *[(0, 1, 1, 1)] * 7), runs=1, planned=1, margin=0.1)
    assert single.tasks == ("T-0", "T-1", "T-2", "T-3", "T-4")


def test_what_used_to_pass_and_has_not_is_looked_after() -> None:
    """No early answer while a task that passed four times in five has not passed once."""
    assert look(suite(*CALM), runs=2, planned=5, margin=0.1).sign is Sign.NO_SIGN
    watched = look(suite((4, 5, 0, 2), *CALM), runs=2, planned=5, margin=0.1)
    assert watched.sign is Sign.MORE


def test_a_proof_makes_all_its_rounds() -> None:
    """Unless the drop is excluded before."""
    counts = suite(*CALM)
    assert look(counts, runs=2, planned=5, margin=0.1).sign is Sign.NO_SIGN
    proved = look(counts, runs=2, planned=5, margin=0.1, prove=True)
    assert proved.sign is Sign.MORE


def test_a_wide_interval_is_undecided_in_the_end() -> None:
    """Neither worse nor shown to be no worse."""
    found = look(even(3, 3, 5, tasks=4), runs=5, planned=5, margin=0.1)
    assert found.sign is Sign.UNDECIDED


def test_the_same_counts_in_a_large_suite_are_an_answer() -> None:
    """A drop of ten points is excluded then."""
    found = look(even(12, 6, 10, tasks=60, stored=20), runs=10, planned=10, margin=0.1)
    assert found.sign is Sign.OK


def test_good_news_are_suspected_too() -> None:
    """A suite that rose, and a task that never passed and does now."""
    rose = look_up(even(1, 4, 5), alpha=0.04)
    assert rose.suite
    first = look_up(suite((0, 5, 5, 5), *[(3, 5, 3, 5)] * 5), alpha=0.04)
    assert first.tasks == ("T-0",)
    calm = look_up(suite((0, 5, 1, 5), *[(3, 5, 3, 5)] * 5), alpha=0.04)
    assert calm.sign is Sign.OK


def test_a_plan_runs_what_is_suspected() -> None:
    """The whole suite, or the suspected tasks alone."""
    names = [f"T-{n}" for n in range(12)]
    whole = look(even(5, 0, 2), runs=2, planned=5, margin=0.1)
    assert plan_of(whole, names, planned=5) == Plan(tasks=tuple(names), runs=5)
    assert plan_of(whole, names, planned=3).runs == 3
    assert [plan_of(whole, names[:few], planned=5).runs for few in (1, 7, 10)] == [10, 9, 6]
    assert plan_of(whole, names[:7], planned=3).runs == 3
    assert [plan_of(whole, names[:7], planned=many).runs for many in (10, 12, 20)] == [10, 12, 15]
    assert most_confirming_runs(20) == plan_of(whole, names[:1], planned=20).runs == 20
    assert plan_of(whole, names, planned=5, gain=True).runs == 3
    one = look(
        suite((5, 5, 0, 2), *[(3, 5, 1, 2), (3, 5, 2, 2)] * 5), runs=2, planned=5, margin=0.1
    )
    assert plan_of(one, names, planned=5) == Plan(tasks=("T-0",), runs=5)


def test_only_fresh_runs_confirm() -> None:
    """Their difference is the one that is told."""
    found = look(even(5, 0, 2), runs=2, planned=5, margin=0.1)
    again = confirm(found, even(5, 2, 5))
    assert again.worse
    assert again.difference is not None
    assert again.difference.point == pytest.approx(-0.6)
    assert not confirm(found, even(4, 4, 5)).worse


def test_a_task_is_held_to_its_share_of_the_error() -> None:
    """With three suspects each must reach a third of 0.05."""
    three = look(suite(*[(5, 5, 0, 5)] * 3, *[(2, 5, 5, 5)] * 6), runs=5, planned=5, margin=0.1)
    assert len(three.tasks) == 3
    fresh = suite((5, 5, 1, 5), (5, 5, 0, 5), (5, 5, 5, 5))
    # 5/5 against 1/5 is p = 0.024, above 0.05/3; against 0/5 it is 0.004.
    assert confirm(three, fresh).tasks == ("T-1",)


def test_the_world_may_have_moved_instead() -> None:
    """Fresh runs of the base that do worse than its stored ones."""
    assert baseline_moved(even(5, 2, 5))
    assert not baseline_moved(even(5, 5, 5))
    assert not baseline_moved([])


def drive(
    policy: Policy, planned: int, answers: dict[str, list[TaskCounts]]
) -> tuple[list, Course]:
    """Go through a course with fixed answers; return what it wanted and how it ended."""
    wanted = []
    steps = course(policy, planned=planned)
    now = next(steps)
    while True:
        wanted.append(now)
        key = "fresh" if isinstance(now, Plan) else str(now.runs)
        try:
            now = steps.send(answers[key])
        except StopIteration as end:
            return wanted, end.value


def test_a_course_asks_for_no_more_than_it_needs() -> None:
    """One round where it is clear, a confirmation where it is suspicious."""
    wanted, end = drive(Policy(), 5, {"2": suite(*CALM)})
    assert wanted == [Round(runs=2)]
    assert not end.worse
    wanted, end = drive(Policy(), 5, {"2": even(5, 0, 2), "fresh": even(5, 1, 5)})
    assert [type(one) for one in wanted] == [Round, Plan]
    assert end.worse
    assert not end.moved


def test_what_is_there_already_is_looked_at_once() -> None:
    """Five trials of each task that exist are the last look, and not the first of four."""
    five = suite(*[(3, 5, 3, 5)] * 4)
    wanted, end = drive(Policy(), 5, {"2": five})
    assert wanted == [Round(runs=2)]
    assert end.last.sign is Sign.UNDECIDED
    more = suite(*[(3, 5, 6, 10)] * 4)
    wanted, end = drive(Policy(), 5, {"2": more})
    assert len(end.looks) == 1


def test_a_course_tells_a_base_that_moved() -> None:
    """The drop is not confirmed, since the base dropped as well."""
    _, end = drive(Policy(), 5, {"2": even(5, 0, 2), "fresh": even(1, 1, 5)})
    assert (end.worse, end.moved) == (False, True)


def test_a_gain_is_run_again_before_it_is_believed() -> None:
    """Both ways."""
    up = suite(*[(1, 5, 2, 2)] * 12)
    _, end = drive(Policy(), 5, {"2": up, "fresh": even(1, 3, 3, stored=3)})
    assert (end.worse, end.better) == (False, True)
    _, end = drive(Policy(), 5, {"2": up, "fresh": even(2, 2, 3, stored=3)})
    assert (end.worse, end.better) == (False, False)
    assert end.gain is not None


def ended(steps: Generator[Wanted, Counts, Course], counts: list[TaskCounts]) -> Course | None:
    """Send counts; return the course when it has ended."""
    try:
        steps.send(counts)
    except StopIteration as end:
        found: Course = end.value
        return found
    return None


@given(st.data())
def test_any_counts_end_somewhere(data: st.DataObject) -> None:
    """Whatever the runs are, also where some were not measured."""
    planned = data.draw(st.integers(1, 12))
    tasks = data.draw(st.integers(1, 6))
    cell = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))

    def counts() -> list[TaskCounts]:
        cells = data.draw(st.lists(cell, min_size=tasks, max_size=tasks))
        return suite((1, 1, 1, 1), *((min(a, b), b, min(c, d), d) for a, b, c, d in cells))

    steps = course(Policy(), planned=planned)
    next(steps)
    for _ in range(8):
        end = ended(steps, counts())
        if end is not None:
            assert not (end.worse and end.better)
            return
    pytest.fail("a course of more than eight steps")

"""The verdict's statistics against independent oracles, known cases and their own laws."""

import itertools
import math
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalgate.core.counts import TaskCounts
from evalgate.core.multiplicity import task_p_values
from evalgate.core.statistics import (
    Difference,
    about_more_runs,
    drop_not_excluded,
    pass_rate_difference,
    suite_p_value,
)

Cell = tuple[int, int, int, int]
"""Base passed, base runs, head passed, head runs."""


def suite_of(*cells: Cell) -> list[TaskCounts]:
    """Name the cells T-0, T-1, ..."""
    return [
        TaskCounts(
            task=f"T-{index}",
            base_passed=base_passed,
            base_runs=base_runs,
            head_passed=head_passed,
            head_runs=head_runs,
        )
        for index, (base_passed, base_runs, head_passed, head_runs) in enumerate(cells)
    ]


def five_runs(base: Sequence[int], head: Sequence[int]) -> list[TaskCounts]:
    """Five runs of every task in both arms."""
    return suite_of(*((b, 5, h, 5) for b, h in zip(base, head, strict=True)))


def swapped(counts: Sequence[TaskCounts]) -> list[TaskCounts]:
    """Exchange base and head."""
    return [
        TaskCounts(
            task=count.task,
            base_passed=count.head_passed,
            base_runs=count.head_runs,
            head_passed=count.base_passed,
            head_runs=count.base_runs,
        )
        for count in counts
    ]


def random_suite(seed: int, tasks: int, base_runs: int, head_runs: int) -> list[TaskCounts]:
    """Draw a suite of mixed difficulty, the same one for the same seed."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(1, 1, tasks)
    base = rng.binomial(base_runs, rates)
    head = rng.binomial(head_runs, rates)
    return suite_of(
        *((int(b), base_runs, int(h), head_runs) for b, h in zip(base, head, strict=True))
    )


def suite_oracle(counts: Sequence[TaskCounts]) -> float:
    """Lower-tail mid-p from scipy's hypergeometric law and numpy's convolution."""
    law = np.array([1.0])
    for count in counts:
        passes = np.arange(count.head_runs + 1)
        one = scipy.stats.hypergeom.pmf(passes, count.runs, count.passed, count.head_runs)
        law = np.convolve(law, one)
    observed = sum(count.head_passed for count in counts)
    return float(law[:observed].sum() + law[observed] / 2)


def min_p_oracle(counts: Sequence[TaskCounts]) -> dict[str, Fraction]:
    """Step-down min-P by definition: every joint outcome of the unchanged suite, in fractions."""

    def law_of(count: TaskCounts) -> list[tuple[Fraction, Fraction]]:
        """Pairs of chance and p-value, one for each possible number of head passes."""
        pairs, below = [], Fraction(0)
        for k in range(count.head_runs + 1):
            if 0 <= count.passed - k <= count.base_runs:
                ways = math.comb(count.head_runs, k)
                ways *= math.comb(count.base_runs, count.passed - k)
                chance = Fraction(ways, math.comb(count.runs, count.passed))
                below += chance
                pairs.append((chance, below))
        return pairs

    laws = {count.task: law_of(count) for count in counts}
    raw = {
        count.task: laws[count.task][count.head_passed - max(0, count.passed - count.base_runs)][1]
        for count in counts
    }
    order = sorted(raw, key=raw.__getitem__)
    adjusted, reached = {}, Fraction(0)
    for position, task in enumerate(order):
        chance_of_any = Fraction(0)
        for outcome in itertools.product(*(laws[other] for other in order[position:])):
            if min(p for _, p in outcome) <= raw[task]:
                chance_of_any += math.prod(chance for chance, _ in outcome)
        reached = max(reached, chance_of_any)
        adjusted[task] = reached
    return adjusted


@st.composite
def cells(draw: st.DrawFn, least: int = 0, most: int = 8) -> Cell:
    """One task's counts."""
    base_runs = draw(st.integers(least, most))
    head_runs = draw(st.integers(least, most))
    return (
        draw(st.integers(0, base_runs)),
        base_runs,
        draw(st.integers(0, head_runs)),
        head_runs,
    )


suites = st.lists(cells(), max_size=8).map(lambda drawn: suite_of(*drawn))
ran_suites = st.lists(cells(least=1), min_size=1, max_size=8).map(lambda drawn: suite_of(*drawn))


class TestTaskCounts:
    """What one task's counts accept and say."""

    def test_an_arm_that_never_ran_can_not_be_compared(self) -> None:
        """However often the other one did."""
        never, both = suite_of((0, 0, 3, 5), (3, 4, 1, 5))
        assert (never.comparable, both.comparable) == (False, True)

    def test_arms_can_be_exchanged(self) -> None:
        """Twice is as before."""
        (count,) = suite_of((3, 4, 1, 5))
        assert (count.swapped.base_passed, count.swapped.head_runs) == (1, 4)
        assert count.swapped.swapped == count

    @pytest.mark.parametrize("cell", [(6, 5, 0, 5), (-1, 5, 0, 5), (0, 5, 6, 5), (0, -1, 0, 5)])
    def test_impossible_counts_are_refused_by_name(self, cell: Cell) -> None:
        """More passes than runs, or fewer than none, is a bug of the caller."""
        with pytest.raises(ValueError, match="T-0"):
            suite_of(cell)


class TestSuitePValue:
    """The stratified exact test."""

    @pytest.mark.parametrize(
        ("tasks", "base_runs", "head_runs"),
        [(12, 5, 5), (12, 20, 5), (20, 1, 1), (20, 3, 3), (30, 10, 10), (30, 40, 10)],
    )
    @pytest.mark.parametrize("seed", range(5))
    def test_it_agrees_with_scipy(
        self, tasks: int, base_runs: int, head_runs: int, seed: int
    ) -> None:
        """Both tails, to twelve digits, up to 30 tasks of 50 runs."""
        counts = random_suite(seed, tasks, base_runs, head_runs)
        expected = suite_oracle(counts)
        assert suite_p_value(counts, tail="lower") == pytest.approx(expected, rel=0, abs=1e-12)
        assert suite_p_value(counts, tail="upper") == pytest.approx(1 - expected, rel=0, abs=1e-12)

    def test_a_tiny_p_keeps_its_digits(self) -> None:
        """Thirty tasks broken from 10/10 to 0/10: one outcome in C(20, 10) ** 30."""
        counts = suite_of(*[(10, 10, 0, 10)] * 30)
        exact = float(Fraction(1, 2 * math.comb(20, 10) ** 30))
        assert suite_p_value(counts, tail="lower") == pytest.approx(exact, rel=1e-12)

    def test_one_run_per_arm_is_mcnemars_mid_p(self) -> None:
        """Of 9 tasks that flipped, 7 broke: a binomial tail with its own term halved."""
        counts = suite_of(*[(1, 1, 0, 1)] * 7, *[(0, 1, 1, 1)] * 2, *[(1, 1, 1, 1)] * 4)
        flips = scipy.stats.binom(9, 0.5)
        expected = flips.cdf(1) + flips.pmf(2) / 2
        assert suite_p_value(counts, tail="lower") == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("tail", ["lower", "upper"])
    @pytest.mark.parametrize(
        "counts",
        [[], suite_of((0, 0, 3, 5)), suite_of((5, 5, 5, 5), (0, 5, 0, 5), (3, 5, 0, 0))],
        ids=["no task", "nothing comparable", "nothing varied"],
    )
    def test_no_evidence_either_way_is_one_half(self, counts: list[TaskCounts], tail: str) -> None:
        """The mid-p of a sum that can take one value only."""
        assert suite_p_value(counts, tail=tail) == 0.5  # type: ignore[arg-type]

    def test_a_task_that_ran_in_one_arm_only_changes_nothing(self) -> None:
        """It has no difference to speak of."""
        counts = five_runs([5, 4, 3], [2, 4, 1])
        extended = [
            *counts,
            TaskCounts(task="new", base_passed=0, base_runs=0, head_passed=0, head_runs=5),
        ]
        assert suite_p_value(extended, tail="lower") == suite_p_value(counts, tail="lower")

    @pytest.mark.parametrize(
        ("base", "head", "expected"),
        [
            ([5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0], 0.13),
            ([5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], [0, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], 0.14),
        ],
        ids=["a little everywhere", "one task broke"],
    )
    def test_thirty_five_to_thirty_of_sixty_decides_nothing(
        self, base: list[int], head: list[int], expected: float
    ) -> None:
        """The suite test can hardly tell a broken task from an even drop of the same size."""
        p = suite_p_value(five_runs(base, head), tail="lower")
        assert p == pytest.approx(expected, abs=0.005)

    @given(suites)
    def test_it_is_a_probability_and_its_tails_share_one(self, counts: list[TaskCounts]) -> None:
        """The half-counted observed sum belongs to both tails equally."""
        lower, upper = (suite_p_value(counts, tail=tail) for tail in ("lower", "upper"))
        assert 0 <= lower <= 1
        assert 0 <= upper <= 1
        assert lower + upper == pytest.approx(1, abs=1e-12)

    @given(suites)
    def test_exchanging_the_arms_exchanges_the_tails(self, counts: list[TaskCounts]) -> None:
        """Better than base is worse than head, to the last digit."""
        assert suite_p_value(counts, tail="lower") == suite_p_value(swapped(counts), tail="upper")

    @given(ran_suites, st.data())
    def test_one_more_head_pass_never_speaks_for_a_drop(
        self, counts: list[TaskCounts], data: st.DataObject
    ) -> None:
        """Turning a failure into a pass cannot make the lower-tail p smaller."""
        failing = [i for i, count in enumerate(counts) if count.head_passed < count.head_runs]
        assume(failing)
        index = data.draw(st.sampled_from(failing))
        old = counts[index]
        better = list(counts)
        better[index] = TaskCounts(
            task=old.task,
            base_passed=old.base_passed,
            base_runs=old.base_runs,
            head_passed=old.head_passed + 1,
            head_runs=old.head_runs,
        )
        before = suite_p_value(counts, tail="lower")
        assert suite_p_value(better, tail="lower") >= before - 1e-12


class TestPassRateDifference:
    """The mean difference and its interval."""

    def test_sixty_of_sixty_twice_is_within_five_points(self) -> None:
        """Perfect agreement is not certainty: the rule of three speaks."""
        difference = pass_rate_difference(five_runs([5] * 12, [5] * 12))
        assert difference.point == 0
        assert difference.low == pytest.approx(-0.05, abs=0.0005)
        assert difference.high == pytest.approx(0.05, abs=0.0005)

    def test_thirty_five_to_thirty_of_sixty_spans_zero(self) -> None:
        """Eight points down, between minus 21 and plus 5."""
        difference = pass_rate_difference(
            five_runs([5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0])
        )
        assert difference.point == pytest.approx(-5 / 60)
        assert round(100 * difference.low) == -21
        assert round(100 * difference.high) == 5

    def test_the_half_width_follows_the_variance_under_no_change(self) -> None:
        """Hand-computed: two tasks of 10 and 10 runs, 12 and 10 of 20 passed."""
        difference = pass_rate_difference(suite_of((9, 10, 3, 10), (8, 10, 2, 10)))
        variance = 0.2 * (12 * 8 / (20 * 19) + 10 * 10 / (20 * 19) + 1 / 20)
        expected = scipy.stats.norm.ppf(0.95) * math.sqrt(variance) / 2
        assert difference.high - difference.point == pytest.approx(expected, rel=1e-12)

    def test_the_half_width_follows_the_arms_own_variances_when_larger(self) -> None:
        """Hand-computed: a small arm all at 50 %, a large arm all passed."""
        counts = suite_of(*[(20, 20, 2, 4)] * 12)
        difference = pass_rate_difference(counts)
        variance = 12 * (2 * 2 / (16 * 3)) + 1 / 20**2 + 1 / 4**2
        expected = scipy.stats.norm.ppf(0.95) * math.sqrt(variance) / 12
        assert difference.high - difference.point == pytest.approx(expected, rel=1e-12)

    def test_one_run_per_arm_has_an_interval(self) -> None:
        """Twenty tasks of one run, three of them broke: hand-computed from the flips."""
        difference = pass_rate_difference(suite_of(*[(1, 1, 0, 1)] * 3, *[(1, 1, 1, 1)] * 17))
        expected = scipy.stats.norm.ppf(0.95) * math.sqrt(2 * (3 * 0.5 + 0.5)) / 20
        assert difference.point == pytest.approx(-0.15)
        assert difference.high - difference.point == pytest.approx(expected, rel=1e-12)

    def test_every_task_weighs_the_same_however_often_it_ran(self) -> None:
        """A task of 50 runs does not drown one of 2."""
        difference = pass_rate_difference(suite_of((50, 50, 50, 50), (2, 2, 0, 2)))
        assert difference.point == -0.5

    def test_it_never_leaves_the_possible(self) -> None:
        """A single run each way proves nothing and says no more than everything."""
        difference = pass_rate_difference(suite_of((1, 1, 0, 1)))
        assert (difference.point, difference.low) == (-1, -1)
        assert difference.high <= 1

    @pytest.mark.parametrize("counts", [[], suite_of((0, 0, 3, 5))])
    def test_without_a_common_task_there_is_no_difference(self, counts: list[TaskCounts]) -> None:
        """Not zero: nothing was measured."""
        with pytest.raises(ValueError, match="both arms"):
            pass_rate_difference(counts)

    @given(ran_suites)
    def test_the_interval_contains_the_point(self, counts: list[TaskCounts]) -> None:
        """And both lie between all tasks broken and all tasks repaired."""
        difference = pass_rate_difference(counts)
        assert -1 <= difference.low <= difference.point <= difference.high <= 1

    @given(ran_suites)
    def test_exchanging_the_arms_mirrors_it(self, counts: list[TaskCounts]) -> None:
        """A drop seen from base is a gain seen from head."""
        there, back = pass_rate_difference(counts), pass_rate_difference(swapped(counts))
        assert back.point == pytest.approx(-there.point, abs=1e-12)
        assert back.low == pytest.approx(-there.high, abs=1e-12)
        assert back.high == pytest.approx(-there.low, abs=1e-12)

    @pytest.mark.parametrize(("low", "expected"), [(-0.12, 0.12), (0.03, 0.0), (0.0, 0.0)])
    def test_the_drop_not_excluded_is_the_lower_end(self, low: float, expected: float) -> None:
        """And nothing when even the lower end is a gain."""
        assert drop_not_excluded(Difference(point=0.05, low=low, high=0.2)) == expected


class TestTaskPValues:
    """The per-task flags."""

    @pytest.mark.parametrize("seed", range(5))
    def test_raw_agrees_with_scipys_fisher(self, seed: int) -> None:
        """One-sided, head worse."""
        counts = random_suite(seed, 12, 10, 5)
        found = task_p_values(counts)
        for count in counts:
            head = [count.head_passed, count.head_runs - count.head_passed]
            base = [count.base_passed, count.base_runs - count.base_passed]
            expected = scipy.stats.fisher_exact([head, base], alternative="less").pvalue
            assert found[count.task].raw == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize(
        "counts",
        [
            five_runs([5, 4, 3], [0, 1, 3]),
            five_runs([5, 5, 5], [1, 1, 2]),
            suite_of((1, 1, 0, 1), (1, 1, 0, 1), (0, 1, 1, 1), (1, 1, 1, 1)),
            suite_of((3, 3, 0, 3), (9, 10, 1, 3), (2, 2, 0, 5), (0, 4, 4, 4)),
            suite_of((20, 20, 1, 5), (12, 20, 0, 5), (4, 5, 2, 6)),
        ],
    )
    def test_adjusted_agrees_with_enumerating_every_outcome(self, counts: list[TaskCounts]) -> None:
        """The definition of step-down min-P, in exact fractions."""
        found = task_p_values(counts)
        for task, expected in min_p_oracle(counts).items():
            assert found[task].adjusted == pytest.approx(float(expected), rel=1e-12)

    @settings(max_examples=50)
    @given(st.lists(cells(most=4), min_size=1, max_size=4).map(lambda drawn: suite_of(*drawn)))
    def test_adjusted_is_the_enumeration_for_any_small_suite(
        self, counts: list[TaskCounts]
    ) -> None:
        """Ties, empty arms and unequal arms included."""
        found = task_p_values(counts)
        for task, expected in min_p_oracle(counts).items():
            assert found[task].adjusted == pytest.approx(float(expected), rel=1e-12)

    def test_one_broken_task_among_twelve_stands_out(self) -> None:
        """No other task could have come down to 1 in 252, so looking at twelve costs nothing."""
        base, head = [5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], [0, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0]
        found = task_p_values(five_runs(base, head))
        assert found["T-0"].raw == pytest.approx(1 / 252, rel=1e-12)
        assert found["T-0"].adjusted == pytest.approx(1 / 252, rel=1e-12)
        assert all(found[f"T-{other}"].adjusted > 0.5 for other in range(1, 12))

    def test_a_single_run_can_flag_nothing(self) -> None:
        """One broken run in each of twenty tasks: the smallest p of a task is one half."""
        found = task_p_values(suite_of((1, 1, 0, 1), *[(1, 1, 1, 1)] * 19))
        assert found["T-0"].raw == 0.5

    def test_a_task_that_did_not_run_has_nothing_to_show(self) -> None:
        """It is listed, with no evidence against it and none taken from the others."""
        alone = task_p_values(suite_of((5, 5, 0, 5)))
        found = task_p_values(suite_of((5, 5, 0, 5), (3, 5, 0, 0)))
        assert (found["T-1"].raw, found["T-1"].adjusted) == (1, 1)
        assert found["T-0"] == alone["T-0"]

    def test_two_tasks_of_one_name_are_refused(self) -> None:
        """One of them would silently vanish."""
        with pytest.raises(ValueError, match="twice"):
            task_p_values([*suite_of((5, 5, 5, 5)), *suite_of((5, 5, 0, 5))])

    def test_no_tasks_no_flags(self) -> None:
        """An empty suite is not an error here."""
        assert task_p_values([]) == {}

    @given(suites)
    def test_adjusting_only_ever_weakens_and_keeps_the_order(
        self, counts: list[TaskCounts]
    ) -> None:
        """0 <= raw <= adjusted <= 1, and a smaller raw p never gets the larger adjusted one."""
        found = sorted(task_p_values(counts).values(), key=lambda p: (p.raw, p.adjusted))
        assert all(0 <= p.raw <= p.adjusted <= 1 for p in found)
        assert [p.adjusted for p in found] == sorted(p.adjusted for p in found)


class TestAboutMoreRuns:
    """The rough guide to how much more to spend."""

    def test_head_alone_when_base_has_plenty(self) -> None:
        """Hand-computed: 12 tasks at 50 %, 40 base runs each, no difference, margin 10 points."""
        variance = (12 * 22 * 23 / (45 * 44) + 1 / 45) / 12
        needed = 1 / (0.1**2 / (scipy.stats.norm.ppf(0.95) ** 2 * variance) - 1 / 480)
        counts = suite_of(*[(20, 40, 2, 5)] * 6, *[(20, 40, 3, 5)] * 6)
        assert needed > 60
        assert about_more_runs(counts, 0.1) == 12 * math.ceil((needed - 60) / 12)

    def test_both_arms_when_no_number_of_head_runs_would_do(self) -> None:
        """35 to 30 of 60: base's own noise is wider than the eight points seen."""
        counts = five_runs(
            [5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0], [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]
        )
        within = sum(count.passed * (10 - count.passed) / 90 for count in counts)
        variance = (within + 1 / 10) / 12
        each = 2 * variance * scipy.stats.norm.ppf(0.95) ** 2 / (5 / 60) ** 2
        assert about_more_runs(counts, 0.1) == 2 * 12 * math.ceil((each - 60) / 12)

    def test_nothing_when_the_runs_at_hand_decide(self) -> None:
        """Sixty of sixty twice excludes a drop of ten points."""
        assert about_more_runs(five_runs([5] * 12, [5] * 12), 0.1) == 0

    def test_few_clean_runs_are_held_to_the_rule_of_three(self) -> None:
        """12 tasks of 2 clean runs leave 12.5 points open; 30 runs an arm exclude ten."""
        assert about_more_runs(suite_of(*[(2, 2, 2, 2)] * 12), 0.1) == 24

    def test_unknown_when_nothing_is_comparable(self) -> None:
        """No number of runs follows from no difference."""
        assert about_more_runs(suite_of((0, 0, 3, 5)), 0.1) is None

    @pytest.mark.parametrize("margin", [0.0, -0.1, math.nan])
    def test_a_margin_must_be_a_drop(self, margin: float) -> None:
        """With no margin a true zero difference would never be decided."""
        with pytest.raises(ValueError, match="margin"):
            about_more_runs(suite_of((5, 5, 5, 5)), margin)

    @given(ran_suites, st.floats(0.01, 0.5))
    def test_it_comes_in_full_rounds(self, counts: list[TaskCounts], margin: float) -> None:
        """One run of every task at a time."""
        more = about_more_runs(counts, margin)
        assert more is not None
        assert more >= 0
        assert more % len(counts) == 0

    @given(ran_suites, st.floats(0.01, 0.3))
    def test_a_wider_margin_never_costs_more(self, counts: list[TaskCounts], margin: float) -> None:
        """A larger drop is the easier one to exclude."""
        narrow, wide = about_more_runs(counts, margin), about_more_runs(counts, margin + 0.1)
        assert narrow is not None
        assert wide is not None
        assert wide <= narrow


@given(ran_suites, st.randoms(use_true_random=False))
def test_the_order_of_tasks_changes_nothing(counts, random) -> None:  # type: ignore[no-untyped-def]
    """Not even the last digit."""
    mixed = list(counts)
    random.shuffle(mixed)
    assert suite_p_value(mixed, tail="lower") == suite_p_value(counts, tail="lower")
    assert pass_rate_difference(mixed) == pass_rate_difference(counts)
    assert task_p_values(mixed) == task_p_values(counts)
    assert about_more_runs(mixed, 0.1) == about_more_runs(counts, 0.1)


def loaded_by(*modules: str) -> set[str]:
    """What a bare Python has loaded once it imported these."""
    program = f"import sys, {', '.join(modules)}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_rule_loads_no_numerical_library() -> None:
    """A hook runs on every push and cannot wait for scipy."""
    loaded = loaded_by("evalgate.core.rule")
    assert "evalgate.core.statistics" in loaded
    assert not {"numpy", "scipy", "statistics", "fractions"} & loaded


@pytest.mark.parametrize("name", ["statistics", "multiplicity", "rounds", "soft"])
def test_importing_the_arithmetic_loads_little(name: str) -> None:
    """No dataclasses (and with them `inspect`, `ast`, `dis`), nothing of json, paths or hashes."""
    loaded = loaded_by(f"evalgate.core.{name}")
    heavy = {"dataclasses", "inspect", "ast", "dis", "json", "pathlib", "hashlib", "decimal"}
    assert not heavy & loaded
    ours = {"statistics", "multiplicity", "rounds", "soft", "counts", "normal", "json"}
    mine = {one for one in loaded if one.startswith("evalgate.core.")}
    assert mine <= {f"evalgate.core.{one}" for one in ours}

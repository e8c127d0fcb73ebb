"""The verdict: one decision for every pair of samples, in words a person can check."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.core.change import Change
from evalgate.core.decision import EXIT_CODES, Decision
from evalgate.core.identity import Conditions
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.rates import percent
from evalgate.core.sample import Sample
from evalgate.core.verdict import Verdict
from evalgate.errors import ExitCode

Make = Callable[..., Sample]
POLICY = Policy()


def changes(verdict: Verdict) -> dict[str, Change]:
    """Return what became of each task."""
    return {change.task: change.change for change in verdict.changes}


def many(letters: Sequence[str]) -> dict[str, str]:
    """Name tasks t0, t1, ..."""
    return {f"t{index}": word for index, word in enumerate(letters)}


def test_every_decision_has_an_exit_code() -> None:
    """The table is complete."""
    assert set(EXIT_CODES) == set(Decision)
    assert EXIT_CODES[Decision.VOID] is ExitCode.VOID


def test_a_drop_that_is_excluded_passes(sample: Make) -> None:
    """Enough runs of enough tasks leave no room for a drop of the margin."""
    base, head = many(["p" * 20] * 6 + ["pf" * 10] * 2), many(["p" * 20] * 6 + ["fp" * 10] * 2)
    verdict = judge(sample(**base), sample(**head), POLICY)
    assert verdict.decision is Decision.PASS
    assert verdict.sentence.startswith("No detectable change: 88 % → 88 % (+0.0 points, ")
    assert verdict.sentence.endswith(" A drop of 10 points is excluded.")
    assert verdict.reasons == ()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Policy(must_pass=("a",)), "a must pass and passed 4 of 5 times"),
        (
            Policy(min_pass_rate=0.95),
            "the mean pass rate is 90.0 %, below 95 %, as that of the base is (90.0 %)",
        ),
    ],
    ids=["must pass", "least rate"],
)
def test_a_floor_holds_whatever_the_base_does(sample: Make, policy: Policy, words: str) -> None:
    """A head that equals its base is blocked by what is asked of it."""
    both = sample(a="ppppf", b="ppppp")
    verdict = judge(both, both, policy)
    assert verdict.decision is Decision.REGRESSION
    assert words in verdict.sentence
    assert verdict.reasons == (words,)
    assert verdict.advice is not None
    assert verdict.advice.why.startswith("it does not reach what is asked of it, ")
    assert judge(both, both, POLICY).decision is Decision.UNDECIDED


def test_what_can_not_be_told_apart_is_undecided(sample: Make) -> None:
    """It is said with the drop that is not excluded, and with what would decide it."""
    verdict = judge(sample(a="pppff", b="ppppp"), sample(a="ppfff", b="ppppp"), POLICY)
    assert verdict.decision is Decision.UNDECIDED
    assert "more trials would be needed" in verdict.reasons[0]
    assert verdict.exit_code is ExitCode.OK
    assert verdict.sentence.startswith("No detectable change: 80 % → 70 % (-10.0 points, ")
    assert verdict.sentence.endswith(" points is not excluded.")
    assert changes(verdict) == {"a": Change.FELL, "b": Change.SAME}


def test_a_suite_that_gets_better_is_improved(sample: Make) -> None:
    """A gain is named as one; a task's first pass is named too."""
    base, head = many(["pffff"] * 4 + ["fffff"]), many(["ppppp"] * 4 + ["fffff"])
    verdict = judge(sample(**base), sample(**head), POLICY)
    assert verdict.decision is Decision.IMPROVED
    assert verdict.sentence.startswith("Merging this raises the pass rate: 16 % → 80 % (+64.0 ")
    assert changes(judge(sample(a="ff"), sample(a="fp"), POLICY)) == {"a": Change.FIRST_PASS}
    assert changes(judge(sample(a="pf"), sample(a="pp"), POLICY)) == {"a": Change.ROSE}


def test_many_small_drops_are_a_regression(sample: Make) -> None:
    """The suite blocks although no task does by itself."""
    verdict = judge(sample(**many(["ppppp"] * 6)), sample(**many(["pppff"] * 6)), POLICY)
    assert verdict.decision is Decision.REGRESSION
    assert verdict.exit_code is ExitCode.REGRESSION
    assert verdict.p_worse is not None
    assert verdict.p_worse <= POLICY.suite_alpha
    assert verdict.sentence.startswith("Merging this lowers the pass rate: 100 % → 60 % (-40.0 ")
    assert "broken" not in verdict.sentence
    assert set(changes(verdict).values()) == {Change.FELL}


def test_one_broken_task_is_a_regression(sample: Make) -> None:
    """Gains elsewhere do not buy a broken task, and the sentence claims no drop."""
    base = sample(broken="p" * 10, **many(["ppppfffff"] * 4))
    head = sample(broken="f" * 10, **many(["ppppppppp"] * 4))
    verdict = judge(base, head, POLICY)
    assert verdict.decision is Decision.REGRESSION
    assert verdict.sentence.startswith("Merging this breaks a task: 56 % → 80 % (+24.4 points")
    assert verdict.sentence.endswith("; broken: broken.")
    assert verdict.changes[0].task == "broken"
    assert verdict.changes[0].change is Change.REGRESSED
    assert (verdict.changes[0].p or 1) <= POLICY.task_alpha
    assert [(c.name, c.base, c.head) for c in verdict.changes[0].checks] == [
        ("hidden tests", (10, 10), (0, 10))
    ]


def test_other_conditions_are_no_baseline(sample: Make, conditions: Conditions) -> None:
    """Another model served is another experiment, whatever the numbers say."""
    head = sample(replace(conditions, models=("m-2",)), a="fffff")
    verdict = judge(sample(a="ppppp"), head, POLICY)
    assert verdict.decision is Decision.NO_BASELINE
    assert verdict.exit_code is ExitCode.NO_BASELINE
    assert verdict.reasons == ("models served: m-1 against m-2",)


def test_no_task_in_common_is_no_baseline(sample: Make) -> None:
    """Changed, new and gone tasks are listed with the reason."""
    head = sample(a="f", c="f", digests={"a": "d2"})
    verdict = judge(sample(a="p", b="p"), head, POLICY)
    assert verdict.decision is Decision.NO_BASELINE
    assert verdict.reasons == ("a: the task itself changed", "b: gone", "c: new")


def test_a_base_without_trials_is_no_baseline(sample: Make) -> None:
    """Nothing can be compared with nothing."""
    assert judge(sample(), sample(a="p"), POLICY).decision is Decision.NO_BASELINE


def test_changed_new_and_gone_tasks_do_not_count(sample: Make) -> None:
    """Only a task both sides measured in the same form is evidence."""
    base = sample(same="ppppp", changed="ppppp", gone="ppppp", unmeasured="e")
    head = sample(
        same="ppppp", changed="fffff", new="fffff", unmeasured="p", digests={"changed": "d2"}
    )
    verdict = judge(base, head, POLICY)
    assert verdict.decision is Decision.UNDECIDED
    assert "100 % → 100 % (+0.0 points" in verdict.sentence
    assert changes(verdict) == {
        "same": Change.SAME,
        "changed": Change.INCOMPARABLE,
        "new": Change.NEW,
        "gone": Change.GONE,
        "unmeasured": Change.NOT_MEASURED,
    }


@pytest.mark.parametrize(
    ("letters", "decision"),
    [("p" * 9 + "e", Decision.UNDECIDED), ("p" * 8 + "ee", Decision.NOT_MEASURED)],
)
def test_more_than_a_tenth_errored_is_not_measured(
    sample: Make, letters: str, decision: Decision
) -> None:
    """A tenth is let through and counts nowhere; above it nothing is decided."""
    verdict = judge(sample(a="p" * 10), sample(a=letters), POLICY)
    assert verdict.decision is decision


def test_what_kept_trials_from_being_measured_is_counted(sample: Make) -> None:
    """The reasons of errored trials are listed, each with its number."""
    verdict = judge(sample(a="p", b="p"), sample(a="pee", b="e"), POLICY)
    assert verdict.decision is Decision.NOT_MEASURED
    assert verdict.exit_code is ExitCode.NOT_MEASURED
    assert verdict.sentence == "3 of 4 trials errored, more than 10 %: this was not measured."
    assert verdict.reasons == ("3 × reason of e",)


def test_nothing_ran(sample: Make) -> None:
    """No trial is no pass."""
    verdict = judge(sample(a="p"), sample(), POLICY)
    assert verdict.decision is Decision.NOTHING_RAN
    assert verdict.exit_code is ExitCode.NOTHING_RAN


def test_a_doubt_voids_everything(sample: Make, conditions: Conditions) -> None:
    """Doubt comes before every other reason, in any sample."""
    heads = [
        sample(),
        sample(a="e"),
        sample(a="fffff"),
        sample(a="ppppp"),
        sample(replace(conditions, sandbox="bwrap"), a="p"),
    ]
    for head in heads:
        verdict = judge(sample(a="ppppp"), head, POLICY, doubts=["a baseline was edited", "more"])
        assert verdict.decision is Decision.VOID
        assert verdict.exit_code is ExitCode.VOID
        assert verdict.sentence == "The numbers can not be believed: a baseline was edited."
        assert verdict.reasons == ("a baseline was edited", "more")


def test_precedence(sample: Make, conditions: Conditions) -> None:
    """Nothing ran, then incomparable, then not measured, then the numbers."""
    other = replace(conditions, sandbox="bwrap")
    assert judge(sample(a="p"), sample(other), POLICY).decision is Decision.NOTHING_RAN
    assert judge(sample(a="p"), sample(other, a="e"), POLICY).decision is Decision.NO_BASELINE
    assert judge(sample(a="p"), sample(a="e"), POLICY).decision is Decision.NOT_MEASURED
    assert judge(sample(b="p"), sample(a="e"), POLICY).decision is Decision.NO_BASELINE


def test_easy_tasks_of_the_head_hide_no_error(sample: Make) -> None:
    """The share that errored is one of the base's tasks; one that errored throughout is lost."""
    many = {f"easy{n}": "p" * 10 for n in range(9)}
    base, head = sample(a="ppp", b="ppp"), sample(a="ppp", b="eee", **many)
    verdict = judge(base, head, POLICY)
    assert verdict.decision is Decision.NOT_MEASURED
    assert verdict.sentence.startswith("3 of 6 trials errored")
    lost = judge(sample(b="p", **many), sample(b="e", **many), replace(POLICY, must_pass=("b",)))
    assert lost.decision is Decision.NOT_MEASURED
    assert lost.sentence == "Every trial of b errored: this was not measured."


def test_what_must_pass_is_measured(sample: Make) -> None:
    """A task that is not there does not keep the floor; new easy ones raise no mean."""
    policy = replace(POLICY, must_pass=("b",), min_pass_rate=0.9)
    verdict = judge(sample(a="p" * 9, b="p"), sample(a="p" * 9), policy)
    assert verdict.decision is Decision.REGRESSION
    assert "b must pass and was not measured" in verdict.sentence
    policy = replace(POLICY, min_pass_rate=0.9)
    thin = judge(sample(a="pf" * 5), sample(a="pf" * 5, c="p" * 9, d="p" * 9), policy)
    assert "the mean pass rate is 50.0 %, below 90 %, as that of the base is" in thin.sentence
    fell = judge(sample(a="p" * 10), sample(a="p" * 8 + "ff"), policy)
    assert fell.sentence.endswith("the mean pass rate is 80.0 %, below 90 %.")


def test_errored_rows_are_in_no_count(sample: Make) -> None:
    """The same verdict comes out with and without rows that were not measured."""
    letters = "p" * 12 + "f" * 8
    plain = judge(sample(a=letters), sample(a=letters[::-1]), POLICY)
    noisy = judge(sample(a=letters + "e"), sample(a=letters[::-1] + "ee"), POLICY)
    assert (noisy.decision, noisy.sentence) == (plain.decision, plain.sentence)
    assert (noisy.p_worse, noisy.difference) == (plain.p_worse, plain.difference)


@pytest.mark.parametrize(
    ("passed", "runs", "shown"),
    [
        (0, 0, "unknown"),
        (0, 500, "0 %"),
        (1, 500, "1 %"),
        (499, 500, "99 %"),
        (500, 500, "100 %"),
        (1, 2, "50 %"),
        (59, 60, "98 %"),
    ],
)
def test_a_rate_is_extreme_only_when_it_is(passed: int, runs: int, shown: str) -> None:
    """499 of 500 is no hundred per cent, and 1 of 500 not none."""
    assert percent(passed, runs) == shown


SUITES = st.dictionaries(
    st.sampled_from("abcdef"), st.text("pfe", min_size=1, max_size=8), min_size=1, max_size=5
)


@settings(max_examples=100)
@given(SUITES)
def test_a_sample_against_itself_never_blocks(sample: Make, suite: dict[str, str]) -> None:
    """A commit gated against itself is no regression, and no improvement."""
    verdict = judge(sample(**suite), sample(**suite), POLICY)
    assert verdict.decision in {
        Decision.PASS,
        Decision.UNDECIDED,
        Decision.NOT_MEASURED,
        Decision.NO_BASELINE,
    }


@settings(max_examples=100)
@given(SUITES, SUITES, st.lists(st.just("doubt"), max_size=1))
def test_every_pair_has_one_verdict(
    sample: Make, old: dict[str, str], new: dict[str, str], doubts: list[str]
) -> None:
    """Any two samples are judged, with one change a task, in a form that JSON holds."""
    verdict = judge(sample(**old), sample(**new), POLICY, doubts=doubts)
    assert set(changes(verdict)) == {*old, *new}
    assert verdict.sentence
    value = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert value["decision"] == verdict.decision
    assert value["exit_code"] == verdict.exit_code
    assert {task["task"] for task in value["tasks"]} == {*old, *new}


def test_the_order_is_worst_first(sample: Make) -> None:
    """A reader sees what broke before what did not."""
    base = sample(a="pp", b="pp", c="ff", d="pf", e="p")
    head = sample(a="pp", b="pf", c="pf", d="pp", f="p")
    assert list(changes(judge(base, head, POLICY)).values()) == [
        Change.FELL,
        Change.FIRST_PASS,
        Change.ROSE,
        Change.SAME,
        Change.NEW,
        Change.GONE,
    ]


@pytest.mark.parametrize(
    "name", ["margin", "suite_alpha", "task_alpha", "max_errored", "min_pass_rate"]
)
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_rule_is_a_probability(name: str, value: float) -> None:
    """Rules that could never or always block are refused."""
    with pytest.raises(ValueError, match=f"{name} must lie between 0 and 1"):
        Policy(**{name: value})


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (Policy(margin=0.2), ""),
        (Policy(suite_alpha=0.01), "policy.suite_alpha = 0.01: for trials that exist only; "),
        (Policy(suite_alpha=0.1, task_alpha=0), "suite_alpha = 0.1 and policy.task_alpha = 0: "),
    ],
)
def test_thresholds_that_no_live_gate_goes_by_are_named(policy: Policy, named: str) -> None:
    """Those that somebody set."""
    assert named in "".join(policy.only_recorded)
    assert bool(policy.only_recorded) is bool(named)


@pytest.mark.parametrize("base", ["p", "pp", "pf", "f", "pppff"])
@pytest.mark.parametrize("head", ["p", "pp", "f", "ppppp"])
def test_no_sentence_speaks_of_a_drop_that_can_not_be(sample: Make, base: str, head: str) -> None:
    """A base can not fall by more than all it passes: so few trials exclude nothing."""
    sentence = judge(sample(a=base), sample(a=head), POLICY).sentence
    for points in re.findall(r"drop of up to (\d+) points", sentence):
        assert int(points) < 100 * base.count("p") / len(base)

"""Samples: trials gathered so that two harnesses can be compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.sample import (
    Row,
    Sample,
    TaskSample,
    joint_conditions,
    sample_of,
    without_retried,
)
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial


def trial(
    task: str, n: int, outcome: Outcome, *, models: tuple[str, ...] = (), patch: str = ""
) -> Trial:
    """Return a trial with one check that decided it."""
    return Trial(
        task=task,
        key=TrialKey(task_digest=f"digest of {task}", fingerprint="f", series="main", n=n),
        outcome=outcome,
        checks=(CheckResult(name="hidden tests", outcome=outcome),),
        conditions=Conditions(sandbox="process", agent="", models=models, checks={task: 1}),
        evidence=Evidence.MEASURED,
        patch=patch,
    )


def test_trials_are_grouped_by_task_in_order() -> None:
    """Whatever order they ended in, rows are by number and tasks by name."""
    trials = [
        trial("b", 2, Outcome.FAILED),
        trial("a", 1, Outcome.PASSED, patch="good", models=("m",)),
        trial("b", 1, Outcome.PASSED, patch="first"),
        trial("b", 3, Outcome.PASSED, patch="second"),
    ]
    sample = sample_of(trials, fingerprint="f", evidence=Evidence.REPLAYED, recordings=2)
    assert list(sample.tasks) == ["a", "b"]
    assert [row.n for row in sample.tasks["b"].rows] == [1, 2, 3]
    assert sample.tasks["b"].passing_patch == "first"
    assert sample.tasks["b"].digest == "digest of b"
    assert (sample.evidence, sample.recordings) == (Evidence.REPLAYED, 2)
    assert sample.conditions == Conditions(
        sandbox="process", agent="", models=("m",), checks={"a": 1, "b": 1}
    )


def test_what_errored_is_left_out_once_it_was_tried_again() -> None:
    """By a later run, of the same task; what errored in the last try stays."""
    first = [
        trial("a", 1, Outcome.ERRORED),
        trial("a", 2, Outcome.FAILED),
        trial("b", 1, Outcome.ERRORED),
    ]
    again = [trial("a", 3, Outcome.PASSED), trial("a", 4, Outcome.ERRORED)]
    assert without_retried([first, again]) == (first[1], first[2], *again)
    assert without_retried([first]) == tuple(first)


def test_what_errored_is_not_measured(sample: Callable[..., Sample]) -> None:
    """Errored rows are counted apart and enter no rate, not even of a check."""
    task = sample(t="ppfee").tasks["t"]
    assert (task.passed, len(task.measured), len(task.rows)) == (2, 3, 5)
    assert task.check_passes("hidden tests") == (2, 3)
    assert task.check_passes("no such check") == (0, 0)
    assert task.check_names == ("hidden tests",)
    assert sample(t="ppfee", u="e").errored == 3


def test_no_trial_is_an_empty_sample() -> None:
    """Nothing is made up where nothing was measured."""
    empty = sample_of([], fingerprint="f", evidence=Evidence.MEASURED)
    assert (empty.rows, empty.errored, empty.tasks) == ((), 0, {})


def test_trials_together_keep_what_each_of_them_kept() -> None:
    """A promise that one of them did not keep is not kept."""
    said = [{"own_network": True, "limits_memory": kept} for kept in (True, False)]
    many = [Conditions(sandbox="s", agent="", promises=one) for one in (*said, {})]
    assert joint_conditions(many).promises == {"own_network": True, "limits_memory": False}


def test_several_sandboxes_are_all_named() -> None:
    """Trials of one run in two sandboxes are no one sandbox's trials."""
    both = [Conditions(sandbox=name, agent="") for name in ("process", "bwrap")]
    assert joint_conditions(both).sandbox == "bwrap, process"


def test_what_lies_within_another_sample_is_no_news(sample: Callable[..., Sample]) -> None:
    """A run and the baseline that was accepted from it; not another harness, task or trial."""

    def live(*seconds: float, fingerprint: str = "f", task: str = "a") -> Sample:
        rows = tuple(
            Row(n=n, outcome=Outcome.PASSED, signals=Signals(seconds=one))
            for n, one in enumerate(seconds, 1)
        )
        of = {task: TaskSample(task=task, digest="d", rows=rows)}
        return replace(sample(), fingerprint=fingerprint, tasks=of)

    assert live(1.0, 2.0).is_within(live(3.0, 2.0, 1.0))
    assert not live(3.0, 2.0, 1.0).is_within(live(1.0, 2.0))
    assert not live(1.0).is_within(live(1.0, fingerprint="g"))
    assert not live(1.0).is_within(live(1.0, task="b"))
    assert not live().is_within(live())
    assert sample(a="pf").is_within(sample(a="pf"))  # of which nothing tells one from another


def test_checks_of_one_name_are_told_apart() -> None:
    """A second one that passes does not hide that the first failed."""
    one = replace(
        trial("a", 1, Outcome.FAILED),
        checks=(
            CheckResult(name="command_succeeds", outcome=Outcome.FAILED),
            CheckResult(name="command_succeeds", outcome=Outcome.PASSED),
        ),
    )
    sample = sample_of([one], fingerprint="f", evidence=Evidence.MEASURED)
    assert sample.tasks["a"].check_names == ("command_succeeds", "command_succeeds #2")
    assert sample.tasks["a"].check_passes("command_succeeds") == (0, 1)

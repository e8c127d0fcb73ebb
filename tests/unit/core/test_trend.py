"""Sessions of an unchanged harness, and where their signals go."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from evalgate.core.drift import ANCHOR, LIMIT, creep_of
from evalgate.core.identity import Conditions
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.session import Session, pass_rate_of, sessions_of
from evalgate.core.trend import PASS_RATE, Trend, Window, trends_of, worse_by
from evalgate.core.trial import Signals

START = date(2026, 1, 5)
MakeSample = Callable[..., Sample]


def with_signals(sample: Sample, *each: Signals) -> Sample:
    """Give the rows of every task these signals, in turn."""

    def of(task: TaskSample) -> TaskSample:
        rows = (replace(r, signals=each[n % len(each)]) for n, r in enumerate(task.rows))
        return replace(task, rows=tuple(rows))

    return replace(sample, tasks={name: of(task) for name, task in sample.tasks.items()})


def weekly(*samples: Sample) -> list[Session]:
    """Return a session a week."""
    return [Session(day=START + timedelta(weeks=n), sample=one) for n, one in enumerate(samples)]


def trend(sessions: list[Session], name: str) -> Trend:
    (found,) = [one for one in trends_of(sessions, sessions[-4:]) if one.name == name]
    return found


def test_without_a_session_after_the_anchor_nothing_creeps(sample: MakeSample) -> None:
    """And with fewer sessions than an anchor there is no level to name."""
    assert trends_of(weekly(*[sample(t="pp")] * (ANCHOR - 1)), []) == ()
    found = trend(weekly(*[sample(t="pp")] * ANCHOR), PASS_RATE)
    assert (found.anchor, found.creep, found.alarm) == (1.0, None, False)


def test_one_odd_trial_is_no_alarm_where_none_ever_failed(sample: MakeSample) -> None:
    """An anchor that never varied has no deviation of its own: one trial is taken for it."""
    good, odd = sample(a="pppp", b="pppp"), sample(a="pppf", b="pppp")
    assert not trend(weekly(*[good] * ANCHOR, odd), PASS_RATE).alarm
    assert not trend(weekly(*[good] * ANCHOR, *[odd] * 50), PASS_RATE).alarm


def test_a_suite_that_falls_is_named_in_points(sample: MakeSample) -> None:
    """The pass rate creeps when it gets lower."""
    good, bad = sample(a="pppp", b="pppp"), sample(a="ffff", b="pppp")
    found = trend(weekly(*[good] * ANCHOR, *[bad] * 4), PASS_RATE)
    assert found.alarm
    assert found.sentence == (
        "pass rate went down: 100.0 % in the first 8 sessions, 50.0 % now (-50.0 points)"
    )
    assert not trend(weekly(*[bad] * ANCHOR, *[good] * 4), PASS_RATE).alarm


def test_a_lasting_tenth_is_the_least_that_creeps(sample: MakeSample) -> None:
    """However quiet the anchor was."""
    some = sample(a="ppp", b="ppp")
    before = with_signals(some, Signals(cost_usd=0.01))
    for factor, alarm in ((1.08, False), (1.2, True), (0.5, False)):
        after = with_signals(some, Signals(cost_usd=0.01 * factor))
        found = trend(weekly(*[before] * ANCHOR, *[after] * 20), "cost_usd")
        assert found.alarm is alarm, factor
        assert found.anchor == pytest.approx(0.01)
        assert found.window == pytest.approx(0.01 * factor)
        assert found.change == f"{100 * (factor - 1):+.1f} %"


def test_the_limit_is_the_one_that_was_simulated(sample: MakeSample) -> None:
    """A trend is what `creep_of` says of the session's numbers, where the anchor is noisy."""
    rng = random.Random(7)
    sessions = weekly(
        *(
            with_signals(sample(a="pp", b="pp"), Signals(input_tokens=round(1e6 * math.exp(level))))
            for level in (rng.gauss(0, 0.3) for _ in range(20))
        )
    )
    values = [worse_by(one.sample, "input_tokens") for one in sessions]
    known = [one for one in values if one is not None]
    assert trend(sessions, "input_tokens").creep == creep_of(known)


def test_a_signal_that_one_session_does_not_know_is_not_followed(sample: MakeSample) -> None:
    """Unknown is never zero."""
    some = sample(a="pp")
    known, unknown = (with_signals(some, Signals(turns=n)) for n in (3, None))
    names = {one.name for one in trends_of(weekly(*[known] * ANCHOR, unknown), [])}
    assert "turns" not in names
    assert PASS_RATE in names
    assert pass_rate_of(sample(a="pe", b="e")) is None


def test_a_window_is_days_or_sessions_after_the_anchor(sample: MakeSample) -> None:
    """The anchor itself is never part of it."""
    sessions = weekly(*[sample(a="p")] * (ANCHOR + 3))
    newest = sessions[-1].day
    assert Window(days=7).of(sessions, today=newest) == (sessions[-1],)
    assert Window(days=8).of(sessions, today=newest) == tuple(sessions[-2:])
    assert Window(days=7).of(sessions, today=newest + timedelta(days=30)) == ()
    assert Window(sessions=2).of(sessions, today=newest) == tuple(sessions[-2:])
    assert Window(sessions=99).of(sessions, today=newest) == tuple(sessions[ANCHOR:])
    assert creep_of([0.0] * 9, least=1.0) is not None
    assert LIMIT > 1


def test_a_trial_enters_once_wherever_its_numbers_stand(sample: MakeSample) -> None:
    """A baseline holds the trials of its run; a recording is one trial however often it played."""
    made = with_signals(sample(a="pf"), Signals(seconds=1.25), Signals(seconds=2.5))
    more = with_signals(sample(a="pfp"), *(Signals(seconds=one) for one in (1.25, 2.5, 3.0)))
    days = [START + timedelta(days=n) for n in range(3)]
    found = sessions_of([(days[0], made)], [(days[2], more), (days[1], made)])
    assert [(one.day, len(one.sample.rows)) for one in found] == [(days[0], 2), (days[2], 1)]
    found = sessions_of([(days[0], made), (days[1], made)])  # runs are never one another's copy
    assert [len(one.sample.rows) for one in found] == [2, 2]
    (task,) = sample(a="ppppp").tasks.values()
    played = tuple(replace(row, cassette="c1") for row in task.rows)
    recording = replace(sample(a="p"), tasks={"a": replace(task, rows=played[:1])})
    again = replace(sample(a="p"), tasks={"a": replace(task, rows=played)})
    for order in ((recording, again), (again, recording), (again, again)):
        (one,) = sessions_of([], [(START, each) for each in order])
        assert len(one.sample.rows) == 1


def test_a_day_is_one_session_under_equal_conditions(
    sample: MakeSample, conditions: Conditions
) -> None:
    """The rounds of a live gate are one; what another model answered is another."""
    other = replace(conditions, models=("m-2",))
    found = sessions_of(
        [(START, sample(a="pp")), (START, sample(a="f", b="p")), (START, sample(other, a="p"))]
    )
    assert [len(one.sample.rows) for one in found] == [4, 1]
    assert found[0].lacks({"a": "d1", "b": "d1", "c": "d1"}) == ("c",)
    assert found[0].lacks({"a": "d2"}) == ("a",)
    assert [*found[0].of(["b"]).sample.tasks] == ["b"]

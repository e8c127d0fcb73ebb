"""The table of a run's results."""

from __future__ import annotations

from evalgate.commands.tables import WIDE, render_sample
from evalgate.core.identity import Conditions
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome, Signals


def table(**tasks: list[Row]) -> list[str]:
    """Return the lines of a sample of such tasks."""
    sample = Sample(
        fingerprint="f",
        conditions=Conditions(sandbox="process", agent=""),
        tasks={
            name: TaskSample(task=name, digest="d", rows=(*rows,)) for name, rows in tasks.items()
        },
        evidence=Evidence.MEASURED,
    )
    return render_sample(sample).splitlines()


def row(outcome: Outcome, reason: str = "", **signals: float) -> Row:
    return Row(n=1, outcome=outcome, reason=reason, signals=Signals(**signals))


def test_it_has_a_line_a_task_with_what_a_trial_takes():
    """A mean is told where every measured trial knows its number; what errored has none."""
    passed = row(Outcome.PASSED, seconds=1.0, cost_usd=0.01)
    failed = row(Outcome.FAILED, "the hidden tests \x1b[2J failed", seconds=4.0)
    errored = row(Outcome.ERRORED, "no engine")
    assert table(a=[passed, failed, errored], b=[passed]) == [
        "task  passed  trials  time   cost     first failure",
        r"a     1/2     ✔✘!     2.5 s           the hidden tests \x1b[2J failed",
        "b     1/1     ✔       1.0 s  $0.0100",
        "",
        "2/3 passed (67 %), 1 errored; evidence: measured",
    ]


def test_what_nobody_knows_has_no_column():
    """An agent whose model has no price."""
    assert table(a=[row(Outcome.PASSED)])[0] == "task  passed  trials  first failure"


def test_a_reason_that_is_cut_says_so():
    """One that just fits has no mark."""
    fits, long = row(Outcome.FAILED, "x" * WIDE), row(Outcome.FAILED, "x" * (WIDE + 1))
    lines = table(a=[fits], b=[long])
    assert lines[1].endswith(" " + "x" * WIDE)
    assert lines[2].endswith(" " + "x" * (WIDE - 1) + "…")

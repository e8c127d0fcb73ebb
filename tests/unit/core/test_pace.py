"""How long the rest of a run takes."""

from __future__ import annotations

import pytest

from evalgate.core.pace import as_clock, seconds_left


@pytest.mark.parametrize(
    ("total", "done", "before", "elapsed", "left"),
    [
        (10, 0, 0, 30.0, None),
        (10, 4, 4, 30.0, None),
        (10, 5, 4, 30.0, 150.0),
        (10, 4, 0, 20.0, 30.0),
        (10, 10, 0, 20.0, 0.0),
    ],
)
def test_the_rest_goes_on_at_the_pace_of_what_was_made_now(total, done, before, elapsed, left):
    """Trials of an earlier call took none of the time of this one."""
    assert seconds_left(total=total, done=done, before=before, elapsed=elapsed) == left


@pytest.mark.parametrize(
    ("seconds", "clock"),
    [
        (0, "0:00"),
        (7.9, "0:07"),
        (725, "12:05"),
        (3600, "1:00:00"),
        (36_061, "10:01:01"),
        (-1, "0:00"),
    ],
)
def test_seconds_are_shown_as_a_clock_does(seconds, clock):
    assert as_clock(seconds) == clock

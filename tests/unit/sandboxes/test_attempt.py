"""One try at a stage in a container, seen without a container."""

from __future__ import annotations

import time

from evalgate.protocols import Stage, StageStatus
from evalgate.sandboxes.attempt import Attempt


def test_the_start_of_a_container_is_no_time_of_its_program() -> None:
    """Nor where it had to be ended and did not say itself how long it took."""
    attempt = Attempt.of(Stage(trees={}, argv=["true"], env={}, timeout=1), {})
    attempt.began -= 1000
    assert attempt.cut(StageStatus.ENGINE).seconds >= 1000
    attempt.talk.begun = time.monotonic()
    assert attempt.cut(StageStatus.TIMEOUT).seconds < 1000

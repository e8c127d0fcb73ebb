"""A signal that wakes nobody ends a wait all the same."""

from __future__ import annotations

import _thread
import threading
from concurrent.futures import Future

import pytest

from evalgate.runner.waits import all_of, first_of


@pytest.mark.parametrize("wait", [first_of, all_of])
def test_a_signal_that_came_in_the_instant_before_is_taken(wait):
    """`interrupt_main` is such a one: it is kept for the main thread, and does not wake it."""
    never: Future[None] = Future()
    giving_up = threading.Timer(60, never.set_result, [None])
    giving_up.start()
    threading.Timer(0.05, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        wait([never])
    assert not never.done()
    giving_up.cancel()


def test_what_is_done_is_returned():
    """As soon as it is, and nothing else."""
    done: Future[int] = Future()
    threading.Timer(0.05, done.set_result, [7]).start()
    assert first_of([done, Future()]) == {done}
    all_of([done])
    all_of([])

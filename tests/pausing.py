"""Two threads made to meet: one pauses at a step of a function, another goes on meanwhile."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, Final

#: Long enough for another thread to answer.
PAUSE: Final = 0.02


@contextlib.contextmanager
def pausing(function: str, step: Callable[[Mapping[str, Any]], int | None]) -> Iterator[None]:
    """Let this thread pause once for each number that ``step`` tells of a function's variables.

    It does so at the step of that number: at the third one where ``step`` says 3.
    """
    taken: Counter[int] = Counter()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_name != function:
            return None
        frame.f_trace_opcodes = True
        number = step(frame.f_locals) if event == "opcode" else None
        if number is not None:
            taken[number] += 1
            if taken[number] == number:
                time.sleep(PAUSE)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)

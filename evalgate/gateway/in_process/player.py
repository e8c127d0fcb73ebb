"""The recorded exchanges of a process, given out again: each one once, to whoever asks first."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence

from evalgate.core.exchange import Ending, Exchange
from evalgate.errors import DivergedError
from evalgate.gateway.in_process.asked import Asked, keyed
from evalgate.gateway.in_process.leaving import LeftError
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.streams.moving import moved_body


class Player:
    """Answers from a tape, in any thread; ``refused`` holds what it could not answer."""

    def __init__(
        self,
        *,
        tape: Sequence[Exchange],
        keying: Keying,
        recorded: Mapping[str, str],
        here: Mapping[str, str],
    ) -> None:
        """Play ``tape``; paths in its replies lead from the ``recorded`` places to those here."""
        self.refused: list[DivergedError] = []
        self._tape = tape
        self._keying = keying
        self._recorded = recorded
        self._here = here
        self._lock = threading.Lock()
        self._played: set[int] = set()
        self._left: dict[str, deque[int]] = {}
        for index, one in enumerate(tape):
            self._left.setdefault(one.key, deque()).append(index)

    def play(self, request: Asked) -> dict[str, object]:
        """Return the response in VCR.py's form; DivergedError when none is left.

        LeftError when the client did not wait for it in the recording.
        """
        with self._lock:
            asked = keyed(request, self._keying)
            left = self._left.get(asked.key)
            if not left:
                miss = explain(asked, self._tape, frozenset(self._played))
                raise self.refuse(miss.sentence, hint='record again with mode="record"')
            index = left.popleft()
            self._played.add(index)
        exchange = self._tape[index]
        if exchange.ending is Ending.CLIENT_GONE:
            raise LeftError(exchange.seconds)
        return {
            "status": {"code": exchange.status, "message": ""},
            "headers": {name: [value] for name, value in exchange.headers.items()},
            "body": {"string": moved_body(exchange.body, self._recorded, self._here)},
        }

    def refuse(self, sentence: str, *, hint: str = "") -> DivergedError:
        """Return the error to raise, and keep it for the end of the context."""
        error = DivergedError(f"evalgate.vcr: {sentence}", hint=hint)
        self.refused.append(error)
        return error

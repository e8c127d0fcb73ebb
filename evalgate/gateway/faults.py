"""Faults at the wire of one trial: which is next, and what it makes of a reply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalgate.core.exchange import Ending, is_error
from evalgate.core.faults import Fault, FaultKind
from evalgate.gateway.capture import Capture
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.format.folding import events_of
from evalgate.gateway.streams.sse import is_stream

_OVERLOADED = "Overloaded"


class Faults:
    """The faults that one trial meets; those that have fired, in order, in words.

    A reply that was paid for and spoiled is held, and given whole to who asks the same again.
    """

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        """Begin with none fired."""
        self._faults = tuple(faults)
        self._left = [fault.times for fault in faults]
        self._held: defaultdict[str, list[Capture]] = defaultdict(list)
        self.fired: list[str] = []

    @property
    def by_turn(self) -> bool:
        """Tell whether turns must be counted."""
        return any(fault.turn is not None for fault in self._faults)

    def next(self, *, request: int, turn: int | None) -> Fault | None:
        """Return the fault for a request; it is not used up before `fire`.

        ``request`` and ``turn`` count from 1; ``turn`` is None for what is no turn.
        """
        pairs = zip(self._faults, self._left, strict=True)
        fits = (one for one, left in pairs if left and one.fits(request=request, turn=turn))
        return next(fits, None)

    def fire(self, fault: Fault, *, request: int) -> None:
        """Use a fault up once."""
        # By identity: a plan may say the same twice.
        place = next(n for n, one in enumerate(self._faults) if one is fault)
        self._left[place] -= 1
        self.fired.append(f"{fault.title} at request {request}")

    def hold(self, reply: Capture) -> None:
        """Keep a reply for whoever asks the same again."""
        self._held[reply.request.key].append(reply)

    def held(self, key: str) -> Capture | None:
        """Return and forget a reply that was kept."""
        waiting = self._held.get(key)
        return waiting.pop(0) if waiting else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiled:
    """What still comes of a reply; not ``whole`` is cut off there."""

    body: bytes
    whole: bool


def can_spoil(status: int, ending: Ending) -> bool:
    """Tell whether a reply is good enough to be spoiled."""
    return ending is Ending.COMPLETE and status > 0 and not is_error(status)


def spoiled(body: bytes, fault: Fault, dialect: Dialect) -> Spoiled | None:
    """Return what a fault makes of the body of a good reply; None when it can not.

    Without a number a stream is spoiled after its first event, and JSON in its middle. At least
    one byte is always lost.
    """
    if not body:
        return None
    stream = is_stream(body)
    if fault.kind is FaultKind.SSE_ERROR:
        if not stream:
            return None
        start = _events(body, 1 if fault.after_events is None else fault.after_events)
        return Spoiled(body=body[:start] + dialect.error_event(_OVERLOADED), whole=True)
    end = _end(body, fault, stream=stream)
    whole = fault.kind is FaultKind.TRUNCATE
    # An event without its end is one that clients forget; with it they read half of some JSON.
    return Spoiled(body=body[:end] + (b"\n\n" if whole and stream else b""), whole=whole)


def _end(body: bytes, fault: Fault, *, stream: bool) -> int:
    if fault.after_bytes is not None:
        end = fault.after_bytes
    elif not stream:
        end = len(body) // 2
    else:
        events = 1 if fault.after_events is None else fault.after_events
        end = _events(body, events)
        if fault.kind is FaultKind.TRUNCATE:
            # A stream that ends between two events lacks some; half of one more is no JSON.
            end = (end + _events(body, events + 1)) // 2
    return min(end, len(body) - 1)


def _events(body: bytes, count: int) -> int:
    """Return where the first ``count`` events end."""
    return sum(events_of(body)[:count])

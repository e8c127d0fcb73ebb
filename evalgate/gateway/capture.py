"""One request on its way: what came in is keyed, what goes out is kept, secrets replaced."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.streams.editing import edit_joined
from evalgate.gateway.streams.sse import is_stream

#: More secrets than this are never glued to one another.
_ROUNDS: Final = 32


@dataclass(slots=True, kw_only=True)
class Capture:
    """Collects a response; ``store`` takes the exchange as it stands, None when it is stored.

    It is kept before the last byte leaves, so that an agent that goes on at once, and a trial
    that asks at once, meet a wire that has seen everything; and once more when it turns out that
    the agent was gone.
    """

    request: Keyed
    began: float
    redactor: Redactor
    store: Callable[[Exchange], None] | None
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    ending: Ending = Ending.COMPLETE
    cuts: list[tuple[int, int]] = field(default_factory=list)

    def take(self, piece: bytes) -> None:
        """Add a piece of the body, as it came."""
        if piece:
            self.body += piece
            self.cuts.append((len(piece), round((time.monotonic() - self.started) * 1000)))

    def keep(self, ending: Ending | None = None) -> None:
        """Store the exchange, with another ending when one is given."""
        self.ending = ending or self.ending
        if self.store is not None:
            self.store(self.exchange())

    def exchange(self) -> Exchange:
        """Return the exchange as it stands."""
        redactor = self.redactor
        body = clean_body(bytes(self.body), redactor)
        # Of a body that is not as it came, nobody can say how it was cut.
        cut = is_stream(body) and len(self.cuts) > 1 and len(body) == len(self.body)
        exchange = self.request.answered(
            status=self.status,
            headers={name: redactor.text(value) for name, value in self.headers.items()},
            body=body,
            began=round(self.began, 6),
        )
        return replace(
            exchange,
            ending=self.ending,
            seconds=round(time.monotonic() - self.started, 3),
            cuts=tuple(self.cuts) if cut else (),
        )


def clean_body(body: bytes, redactor: Redactor) -> bytes:
    """Return a response without secrets, also where a stream or blocks cut one into pieces.

    A key right behind another one can only be told once the first is gone. The texts that the
    pieces make come first: the beginning of a key can look like one, and the rest like nothing.
    """
    for _ in range(_ROUNDS):
        clean = redactor.data(edit_joined(body, redactor.spans))
        if clean == body:
            break
        body = clean
    return body

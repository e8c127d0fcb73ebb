"""The agents of a suite: they ask turn after turn, a few at once, and check every byte."""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import urlsplit

from benchmarks.conversations import PATH, Conversation

AT_ONCE: Final = 4
HEADERS: Final = {
    "content-type": "application/json",
    "accept": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": "dummy",
    "user-agent": "benchmark",
}
_OK: Final = 200
_TIMEOUT: Final = 120


@dataclass(slots=True, kw_only=True)
class Heard:
    """What came back: how many answers, of status 200, exact to the byte; milliseconds each."""

    answers: int = 0
    good: int = 0
    exact: int = 0
    wall: float = 0.0
    first_byte: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median time to the first byte of an answer in ms."""
        return statistics.median(self.first_byte)

    def add(self, other: Heard) -> None:
        """Count what another agent heard."""
        self.answers += other.answers
        self.good += other.good
        self.exact += other.exact
        self.first_byte += other.first_byte


def ask_all(
    conversations: Iterable[Conversation],
    base_url: Callable[[Conversation], str],
    *,
    at_once: int = AT_ONCE,
) -> Heard:
    """Have all conversations, ``at_once`` of them at a time, each on a connection of its own."""
    whole = Heard()
    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        for heard in pool.map(lambda one: _converse(one, base_url(one)), conversations):
            whole.add(heard)
    whole.wall = time.monotonic() - began
    return whole


def _converse(conversation: Conversation, base_url: str) -> Heard:
    heard = Heard()
    with Asker(base_url) as asker:
        for turn, reply in enumerate(conversation.replies):
            status, body, first_byte = asker.ask(conversation.request(turn))
            heard.answers += 1
            heard.good += status == _OK
            heard.exact += body == reply
            heard.first_byte.append(first_byte)
    return heard


class Asker:
    """One agent's connection, kept alive from turn to turn."""

    def __init__(self, base_url: str) -> None:
        """Prepare for requests below a base URL."""
        url = urlsplit(base_url)
        self._connection = http.client.HTTPConnection(
            url.hostname or "", url.port, timeout=_TIMEOUT
        )
        self._path = url.path + PATH

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._connection.close()

    def ask(self, body: bytes) -> tuple[int, bytes, float]:
        """Ask; return the status, the body, and the ms until its first byte was there."""
        began = time.perf_counter()
        self._connection.request("POST", self._path, body, HEADERS)
        response = self._connection.getresponse()
        first = response.read(1)
        first_byte = (time.perf_counter() - began) * 1000
        return response.status, first + response.read(), first_byte


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share (in [0, 1]) of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

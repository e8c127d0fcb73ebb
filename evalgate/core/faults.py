"""A fault plan: what goes wrong at the wire on purpose, where, and how often.

A plan is a TOML file::

    format = 1

    [[fault]]
    task = "*"            # a glob over task ids; all tasks when it is left out
    turn = 2              # while the second turn is asked for, or
    at = 3                # with the third request of the trial, whatever it asks
    times = 1             # so many requests from there on
    kind = "status"       # status, reset, drop, stall, sse-error or truncate
    status = 429
    headers = { retry-after = "0" }

The first fault that fits a request and is not used up fires; the others wait for the next one.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from evalgate.core.identity import digest
from evalgate.core.schema import Reader, Source

#: The version of plan files that is read.
FORMAT: Final = 1

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_TEXT = re.compile(r"[\x20-\x7e]*")

#: What frames a response is the gateway's to say.
_RESERVED = frozenset({"content-length", "transfer-encoding", "connection", "content-encoding"})

_LONGEST_STALL = 3600.0


class FaultKind(StrEnum):
    """What goes wrong.

    ``status``, ``reset`` and ``stall`` happen before any answer; the others to the answer
    itself, which is kept for whoever asks the same again.
    """

    STATUS = "status"
    RESET = "reset"
    STALL = "stall"
    DROP = "drop"
    SSE_ERROR = "sse-error"
    TRUNCATE = "truncate"

    @property
    def spoils_reply(self) -> bool:
        """Tell whether it needs a reply that it can spoil."""
        return self in {FaultKind.DROP, FaultKind.SSE_ERROR, FaultKind.TRUNCATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong, ``times`` times.

    Either ``at`` (number of the request, from 1) or ``turn`` (number of the turn that is asked
    for, from 1) is set. ``status`` and ``headers`` are the answer's; ``after_bytes`` or
    ``after_events`` is how much of a reply still comes; ``seconds`` is how long a stall lasts.
    """

    kind: FaultKind
    task: str = "*"
    at: int | None = None
    turn: int | None = None
    times: int = 1
    status: int = 503
    headers: Mapping[str, str] = field(default_factory=dict)
    after_bytes: int | None = None
    after_events: int | None = None
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """The fault in a word or two."""
        match self.kind:
            case FaultKind.STATUS:
                return f"status {self.status}"
            case FaultKind.STALL:
                return f"stall of {self.seconds:g} s"
            case _:
                return str(self.kind)

    def fits(self, *, request: int, turn: int | None) -> bool:
        """Tell whether it may hit a request; ``turn`` is None when none is asked for."""
        if self.at is not None:
            return request >= self.at
        return turn == self.turn


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """A plan that was read; ``digest`` (64 hex) names its content."""

    name: str
    digest: str
    faults: tuple[Fault, ...]

    def of_task(self, task: str) -> tuple[Fault, ...]:
        """Return the faults that a task meets, in their order."""
        return tuple(one for one in self.faults if fnmatch.fnmatchcase(task, one.task))


def load_fault_plan(source: Source) -> FaultPlan:
    """Read a plan; UsageError names file, line and key of what is wrong."""
    data = source.parse()
    top = Reader(data, source)
    version = top.integer("format")
    if version != FORMAT:
        hint = "upgrade git-evalgate" if version > FORMAT else f"write format = {FORMAT}"
        raise top.error(f"{version} is no format of a fault plan known here", "format", hint=hint)
    faults = tuple(_fault(table) for table in top.tables("fault"))
    top.done()
    if not faults:
        raise top.error("the plan holds no fault", "fault", hint='[[fault]] kind = "reset"')
    return FaultPlan(
        name=source.name, digest=digest(data, domain="evalgate-faults/1"), faults=faults
    )


def _fault(table: Reader) -> Fault:
    kind = FaultKind(table.choice("kind", "", tuple(FaultKind)))
    if table.has("at") == table.has("turn"):
        raise table.error("names either at or turn", hint="turn = 1, or at = 1")
    fault = Fault(
        kind=kind,
        task=table.text("task", "*"),
        at=table.some_integer("at", low=1),
        turn=table.some_integer("turn", low=1),
        times=table.integer("times", 1, low=1),
        status=_status(table) if kind is FaultKind.STATUS else 0,
        headers=_headers(table.table("headers")) if kind is FaultKind.STATUS else {},
        after_bytes=table.some_integer("after_bytes") if kind.spoils_reply else None,
        after_events=table.some_integer("after_events") if kind.spoils_reply else None,
        seconds=_seconds(table) if kind is FaultKind.STALL else 0.0,
    )
    if fault.after_bytes is not None and fault.after_events is not None:
        raise table.error("names either after_bytes or after_events", "after_events")
    if kind is FaultKind.SSE_ERROR and fault.after_bytes is not None:
        raise table.error("an error event stands between events", "after_bytes")
    table.done()
    return fault


def _status(table: Reader) -> int:
    status = table.integer("status", low=400)
    if status > 599:  # noqa: PLR2004 - the last of HTTP's errors
        raise table.error("must be an error of HTTP: 400 to 599", "status")
    return status


def _seconds(table: Reader) -> float:
    seconds = table.number("seconds")
    if seconds > _LONGEST_STALL:
        raise table.error(f"must be at most {_LONGEST_STALL:g}", "seconds")
    return seconds


def _headers(table: Reader) -> dict[str, str]:
    headers = {name: table.text(name) for name in table.keys()}  # noqa: SIM118
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _TEXT.fullmatch(value):
            raise table.error("can not be sent as a header", name)
        if name.lower() in _RESERVED:
            raise table.error("frames the answer and can not be chosen", name)
    table.done()
    return {name.lower(): value for name, value in headers.items()}

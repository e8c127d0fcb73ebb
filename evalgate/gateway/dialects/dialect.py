"""What a model API must let us read: requests, replies, and its own way to say an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol

from evalgate.core.json import Json
from evalgate.core.trajectory import ToolCall, Usage

#: For whoever has no headers to tell a request by.
NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A member of a request that is left out of its stored form and of its key, and why.

    ``path`` is exact, from the top of the body; ``*`` stands for every item of a list. A name
    alone is never dropped wherever it stands: tools have parameters called ``user`` or ``id``.
    """

    path: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The output of a tool call as a request carries it back to the model.

    ``call_id`` is that of the call in the reply that asked for it; ``ok`` is None when the
    dialect does not say whether the tool succeeded.
    """

    call_id: str
    output: str
    ok: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, read: the model its body names, its parts, and the tool results it carries.

    The parts are ``system``, ``tools``, ``messages`` and ``parameters`` (all the rest).
    """

    model: str | None = None
    parts: Mapping[str, Json] = field(default_factory=dict)
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said, whether it came as JSON or as a stream.

    ``reasoning`` is what it shows of its thoughts, a summary mostly; encrypted ones are none.
    ``calls`` are those the client is to make; tools that the provider runs itself are not among
    them. ``finished`` tells that the reply reached its own end; ``error`` is the message of an
    error that came in place of a reply or in the middle of one.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop_reason: str | None = None
    model: str | None = None
    finished: bool = False
    error: str | None = None


class Dialect(Protocol):
    """One model API. Whatever bytes it is given to read, it raises nothing."""

    @property
    def name(self) -> str:
        """The name in tables, cassettes and configuration."""
        ...

    @property
    def drops(self) -> tuple[Drop, ...]:
        """Members of a request that say nothing to the model."""
        ...

    @property
    def conversation(self) -> str:
        """The list in a request that grows from turn to turn; empty when there is none."""
        ...

    @property
    def headers(self) -> frozenset[str]:
        """Names, in lower case, of the request headers that belong to the key."""
        ...

    @property
    def noted(self) -> frozenset[str]:
        """Names of the request headers that are stored and compared, and are not in the key."""
        ...

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:
        """Return the API's own path of a request, or None when it is not of this dialect.

        ``headers`` has names in lower case, or does not mind their case.
        """
        ...

    def is_turn(self, path: str) -> bool:
        """Tell whether the model itself answers on this path of the API."""
        ...

    def model_of(self, path: str, body: bytes) -> str | None:
        """Return the model that a request names, in the API's own path or in its body."""
        ...

    def part_of(self, member: str) -> str:
        """Return the part of a request that a top-level member of its body belongs to.

        One of ``system``, ``tools``, ``messages`` and ``parameters``.
        """
        ...

    def read_request(self, body: bytes) -> Asked:
        """Read a request; what can not be read is left empty."""
        ...

    def read_reply(self, body: bytes) -> Reply:
        """Read the body of a response, JSON or events."""
        ...

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error as clients of this API expect it."""
        ...

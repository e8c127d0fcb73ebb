"""What a model API must let us read: requests, replies, and its own way to say an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from evalgate.core.json import Json
from evalgate.core.trajectory import ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The output of a tool call as a request carries it back to the model."""

    call_id: str
    output: str
    ok: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, read: the model it names, its parts, and the tool results it carries.

    The parts are ``system``, ``tools``, ``messages`` and ``parameters`` (all the rest).
    """

    model: str | None = None
    parts: Mapping[str, Json] = field(default_factory=dict)
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said, whether it came as JSON or as a stream.

    ``finished`` tells that the reply reached its own end; ``error`` is the message of an error
    that came in place of a reply or in the middle of one.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop_reason: str | None = None
    model: str | None = None
    finished: bool = False
    error: str | None = None


class Dialect(Protocol):
    """One model API."""

    @property
    def name(self) -> str:
        """The name in tables, cassettes and configuration."""
        ...

    @property
    def drops(self) -> tuple[str, ...]:
        """Top-level members of a request that say nothing to the model."""
        ...

    def route(self, method: str, path: str) -> str | None:
        """Return the API's own path of a request, or None when it is not of this dialect."""
        ...

    def is_turn(self, path: str) -> bool:
        """Tell whether the model itself answers on this path of the API."""
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

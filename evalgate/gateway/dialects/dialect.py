"""What a model API must let us read: requests, replies, and its own way to say an error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import ToolCall, Usage
from evalgate.gateway import reading
from evalgate.gateway.dialects.common import body_model
from evalgate.gateway.dialects.tooling import tool_definition

#: For whoever has no headers to tell a request by.
NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

#: The header that most keys go into, as a bearer token.
BEARER: Final = "authorization"

_FAILED: Final = 500


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
class Question:
    """What evalgate itself asks a model once; ``parameters`` are those of its configuration."""

    model: str
    system: str
    prompt: str
    parameters: JsonObject = field(default_factory=dict)


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


class Dialect(ABC):
    """One model API: all that the gateway asks of it. Whatever bytes it reads, it raises nothing.

    What has a value or a body here is the usual answer; the rest each dialect gives itself.
    """

    #: The name in tables, cassettes and configuration.
    name: str

    #: Members of a request that say nothing to the model.
    drops: tuple[Drop, ...] = ()

    #: The list in a request that grows from turn to turn; empty when there is none.
    conversation: str = ""

    #: Names, in lower case, of the request headers that belong to the key.
    headers: frozenset[str] = frozenset()

    #: Names of the request headers that are stored and compared, and are not in the key.
    noted: frozenset[str] = frozenset()

    #: How the names of the request headers begin that go on to a provider.
    forwarded: tuple[str, ...] = ()

    #: The header that carries a key.
    key_header: str = BEARER

    #: What clients put after a base URL, so that a configured one may end with it or not.
    version: str = "/v1"

    #: The headers without which a model's description is not given.
    asking: Mapping[str, str] = MappingProxyType({})

    #: The roles in which a conversation gives back what the model said, and its instructions.
    speakers: frozenset[str] = frozenset({"assistant"})
    instructors: frozenset[str] = frozenset({"system", "developer"})

    #: The members of a message, or of a part of one, in which its text stands.
    texts: tuple[str, ...] = ("text", "content")

    #: The type of an item of the conversation that offers more tools; empty when there is none.
    more_tools: str = ""

    #: Whether it stands for endpoints nobody knows, which may be of any provider.
    is_unknown: bool = False

    @abstractmethod
    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:
        """Return the API's own path of a request, or None when it is not of this dialect.

        ``headers`` has names in lower case, or does not mind their case.
        """

    def question(self, asked: Question) -> tuple[str, JsonObject] | None:  # noqa: ARG002 - others need it
        """Return path and body of a question of ours; None where nobody asks one by this API."""
        return None

    @abstractmethod
    def is_turn(self, path: str) -> bool:
        """Tell whether the model itself answers on this path of the API."""

    @abstractmethod
    def part_of(self, member: str) -> str:
        """Return the part of a request that a top-level member of its body belongs to.

        One of ``system``, ``tools``, ``messages`` and ``parameters``.
        """

    @abstractmethod
    def read_request(self, body: bytes) -> Asked:
        """Read a request; what can not be read is left empty."""

    @abstractmethod
    def read_reply(self, body: bytes) -> Reply:
        """Read the body of a response, JSON or events."""

    @abstractmethod
    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error as clients of this API expect it."""

    def error_event(self, message: str) -> bytes:
        """Return the event of a stream that says in its middle that the provider failed."""
        return b"data: " + self.error(_FAILED, message) + b"\n\n"

    def is_paid(self, method: str, path: str) -> bool:  # noqa: ARG002 - others need the method
        """Tell whether a request may cost money; lists of models and counts of tokens do not."""
        return self.is_turn(path)

    def model_of(self, path: str, body: bytes) -> str | None:  # noqa: ARG002 - others need the path
        """Return the model that a request names, in the API's own path or in its body."""
        return body_model(body)

    def part_of_item(self, item: Json) -> str:
        """Return the part of an item of the conversation: some APIs keep prompt and tools there."""
        if self.more_tools and reading.text(item, "type") == self.more_tools:
            return "tools"
        role = reading.text(item, "role")
        return "system" if role in self.instructors else self.part_of(self.conversation)

    def is_spoken(self, item: Json) -> bool:
        """Tell whether an item of the conversation is what the model said before."""
        return reading.text(item, "role") in self.speakers

    def tools(self, offered: Json) -> tuple[JsonObject, ...]:
        """Return the offered tools, each function in the shape of function calling.

        What has another shape, as tools that the provider runs itself, is returned as it was sent.
        """
        return tuple(tool_definition(tool) for tool in reading.mappings(offered))

    def tool_name(self, tool: Json) -> str:
        """Return the name of a tool as it was sent; empty when it has none."""
        return reading.text(tool, "name") or reading.text(tool, "function", "name")

    def strand(self, event: Json, path: Sequence[str | int]) -> tuple[str, ...] | None:  # noqa: ARG002 - others need them
        """Return what the pieces of one text have in common, in a stream without deltas.

        ``path`` leads to a string of an event. None for a text that is whole.
        """
        return None

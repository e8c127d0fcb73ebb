"""What an agent did, as the wire tells it: ordered tool calls, tokens, the final answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from evalgate.core.json import Json, JsonObject

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call: what the model asked for and what came back in the next request.

    ``ok`` is None when the dialect does not say whether the tool succeeded;
    ``seconds`` is the time between the reply and the request that carries the result.
    """

    name: str
    call_id: str
    input: Json
    output: str | None = None
    ok: bool | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counts them; None is unknown, never zero.

    ``input_tokens`` excludes cached ones, so that the four numbers add up without
    counting a token twice, whatever the provider's own convention is.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        """Add two counts; an unknown summand makes the sum unknown."""
        return Usage(
            input_tokens=add_known(self.input_tokens, other.input_tokens),
            output_tokens=add_known(self.output_tokens, other.output_tokens),
            cache_read_tokens=add_known(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=add_known(self.cache_write_tokens, other.cache_write_tokens),
        )


NO_USAGE = Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0)


def add_known(left: Number | None, right: Number | None) -> Number | None:
    """Add two numbers; an unknown one makes the sum unknown."""
    return None if left is None or right is None else left + right


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reply of the model that came whole: what it thought, said, asked for and used.

    ``reasoning`` is as much of its thoughts as the provider shows.
    ``conversation`` is 0 for the agent's own one, another number for each of its side
    conversations (titles, summaries, sub-agents); ``began`` is in seconds since the wire was
    opened, ``seconds`` the time from the request to the end of the reply.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    conversation: int = 0
    began: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the agent's own conversation began with: two texts, and the tools it was offered.

    A tool has the shape of function calling, unless the provider runs it itself.
    """

    system: str = ""
    prompt: str = ""
    tools: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Ordered tool calls, the number of model turns, and the last text of the model.

    ``steps`` are the turns in order; their calls, one step after the other, are ``calls``.
    ``final_answer`` is what the model said last in the agent's own conversation.
    """

    calls: tuple[ToolCall, ...] = ()
    turns: int = 0
    final_answer: str | None = None
    steps: tuple[Step, ...] = ()
    opening: Opening = field(default_factory=Opening)

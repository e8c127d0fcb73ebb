"""What an agent did, as the wire tells it: ordered tool calls, tokens, the final answer."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.core.json import Json


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
class Trajectory:
    """Ordered tool calls, the number of model turns, and the last text of the model."""

    calls: tuple[ToolCall, ...] = ()
    turns: int = 0
    final_answer: str | None = None


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
            input_tokens=_add(self.input_tokens, other.input_tokens),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            cache_read_tokens=_add(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_add(self.cache_write_tokens, other.cache_write_tokens),
        )


NO_USAGE = Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0)


def _add(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right

"""What a trial or a whole run may use of its model, what it has used, and when that is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from evalgate.core.json import Json
from evalgate.core.trajectory import Usage, add_known

#: A limit of nothing at all would be a mistake: one hundredth of a cent.
LEAST_USD: Final = 0.0001
#: And one beyond these too, which no trial could come to: a day, for one.
MOST_SECONDS: Final = 86_400.0
MOST_TURNS: Final = 10_000
MOST_TOOL_CALLS: Final = 100_000
MOST_TOKENS: Final = 1_000_000_000
MOST_USD: Final = 10_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The most of everything; None is no limit. ``usd`` is in US dollars.

    A turn is a whole reply of the model without an error; tokens are all kinds together, cached
    ones included.
    """

    turns: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    @property
    def unlimited(self) -> bool:
        """Tell whether there is no limit at all."""
        return all(getattr(self, field.name) is None for field in fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was used so far; None is unknown, and stays unknown whatever is added."""

    turns: int = 0
    tool_calls: int = 0
    tokens: int | None = 0
    usd: float | None = 0.0

    def __add__(self, other: Tally) -> Tally:
        """Add two tallies."""
        return Tally(
            turns=self.turns + other.turns,
            tool_calls=self.tool_calls + other.tool_calls,
            tokens=add_known(self.tokens, other.tokens),
            usd=add_known(self.usd, other.usd),
        )

    @property
    def known(self) -> Tally:
        """The same without what is unknown."""
        return replace(self, tokens=self.tokens or 0, usd=self.usd or 0.0)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Tally:
        """Read the JSON form; TypeError when it is none."""
        for name, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int | float | None):
                raise TypeError(f"{name} is {number!r}, which is no number")
        return cls(**value)


_NOTHING: Final = Tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why no further request is let through.

    ``limit`` is the limit in words, such as ``500 tokens``. ``unknown`` tells that it can not be
    held, because what was used is not known: that is no doing of the agent's, and measures
    nothing.
    """

    limit: str
    found: str
    unknown: bool = False

    @property
    def message(self) -> str:
        """One line for a person."""
        return f"the limit of {self.limit} {self.found}"


def tokens_of(usage: Usage) -> int | None:
    """Return all tokens of a usage; None when input or output is unknown.

    Cached tokens a provider does not report are taken as none.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return usage.input_tokens + usage.output_tokens + cached


def stop_at(used: Tally, allowed: Allowance, *, under_way: Tally = _NOTHING) -> Stop | None:
    """Say why a further turn is not allowed, or None.

    What a turn will use is known only afterwards, so the last one may pass a limit of tokens or
    money. Tool calls are counted when the model asks for them, and the results of the last
    allowed one may still be sent. ``under_way`` is what is counted for requests that are not
    answered yet.
    """
    if allowed.turns is not None and used.turns + under_way.turns >= allowed.turns:
        return Stop(limit=f"{allowed.turns} model turns", found="is reached")
    tool_calls = used.tool_calls + under_way.tool_calls
    if allowed.tool_calls is not None and tool_calls > allowed.tool_calls:
        found = f"is passed: {used.tool_calls} were asked for{_more(under_way.tool_calls)}"
        return Stop(limit=f"{allowed.tool_calls} tool calls", found=found)
    if allowed.tokens is not None:
        limit = f"{allowed.tokens} tokens"
        if used.tokens is None:
            return Stop(limit=limit, found=f"{_CAN_NOT} how many it took", unknown=True)
        expected = under_way.tokens or 0
        if used.tokens + expected >= allowed.tokens:
            found = f"is reached: {used.tokens} were used{_more(expected)}"
            return Stop(limit=limit, found=found)
    if allowed.usd is not None:
        limit = f"${allowed.usd:g}"
        if used.usd is None:
            return Stop(limit=limit, found=f"{_CAN_NOT} what it cost", unknown=True)
        cost = under_way.usd or 0.0
        if used.usd + cost >= allowed.usd:
            found = f"is reached: ${used.usd:.4g} were spent{_more(cost, unit='$')}"
            return Stop(limit=limit, found=found)
    return None


def _more(expected: float, *, unit: str = "") -> str:
    return f", {unit}{expected:.4g} more may be under way" if expected else ""


_CAN_NOT: Final = "can not be held: of at least one reply nobody knows"

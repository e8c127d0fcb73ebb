"""One reply on its way out: what every dialect needs to write it, and how a dialect does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.scripted import served_as
from evalgate.gateway import reading
from evalgate.gateway.scripted.plan import Call, Said

_PIECE: Final = 12
_BYTES_PER_TOKEN: Final = 4
_ID = re.compile(r"call_(\d+)_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A reply to one request: ``turn`` counts from 0; ``asked`` is the request's JSON.

    Everything in it follows from plan and request, so the same request gets the same bytes.
    """

    said: Said
    turn: int
    model: str
    asked: Json
    size: int

    @property
    def served(self) -> str:
        """The model's id as the reply gives it."""
        return served_as(self.model)

    @property
    def name(self) -> str:
        """The middle of the reply's id."""
        return f"scripted-{self.turn}"

    @property
    def calls(self) -> list[tuple[str, Call]]:
        """The tool calls with their ids."""
        return [(f"call_{self.turn}_{n}", call) for n, call in enumerate(self.said.calls)]

    @property
    def input_tokens(self) -> int:
        """The request's length in fours of bytes."""
        return tokens(self.size)

    @property
    def output_tokens(self) -> int:
        """The length of what is said in fours of bytes."""
        calls = sum(len(call.name) + len(arguments(call)) for call in self.said.calls)
        return tokens(len(self.said.text.encode()) + calls)


class Voice(Protocol):
    """How one dialect counts turns and writes a reply, whole or as a stream."""

    def turns(self, asked: Json) -> int:
        """Return how often the model has spoken already in a request's conversation."""
        ...

    def has_tools(self, asked: Json) -> bool:
        """Tell whether the request offers any tool."""
        ...

    def whole(self, saying: Saying) -> JsonObject:
        """Return the body of a reply that is not streamed."""
        ...

    def events(self, saying: Saying) -> Iterator[bytes]:
        """Yield the pieces of a stream, one event each."""
        ...


def tokens(size: int) -> int:
    """Return a made-up but steady number of tokens for a number of bytes."""
    return max(1, size // _BYTES_PER_TOKEN)


def arguments(call: Call) -> str:
    """Return a call's input as JSON text."""
    return orjson.dumps(call.input).decode()


def pieces(text: str) -> Iterator[str]:
    """Cut a text as a stream does: a few characters each."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def event(value: Json, *, name: str = "") -> bytes:
    """Return one server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + orjson.dumps(value) + b"\n\n"


def count_answers(asked: Json, ids: Callable[[Json], list[str]]) -> int:
    """Count the model's turns in ``messages``; a last one is the start of the wanted reply.

    ``ids`` gives those of the calls in a message.
    """
    messages = reading.items(asked, "messages")
    if messages and _is_answer(messages[-1]):
        messages = messages[:-1]
    return count_turns((_is_answer(message), ids(message)) for message in messages)


def _is_answer(message: Json) -> bool:
    return reading.text(message, "role") == "assistant"


def turn_of(call_id: str) -> int | None:
    """Return the turn in which a call of ours was made, None for any other id."""
    found = _ID.fullmatch(call_id)
    return int(found[1]) if found else None


def count_turns(conversation: Iterator[tuple[bool, list[str]]]) -> int:
    """Count the model's turns in a conversation.

    Each item tells whether the model said it, and the ids of the calls in it. Clients write one
    turn as several items, some put each result right after its call, and some cut old turns
    off: the turn in an id of ours tells better than a count.
    """
    turns, speaking = 0, False
    for is_model, ids in conversation:
        if is_model:
            known = [turn + 1 for turn in map(turn_of, ids) if turn is not None]
            if known:
                turns = max(turns, *known)
            elif not speaking:
                turns += 1
        speaking = is_model
    return turns

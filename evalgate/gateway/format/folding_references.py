"""Texts that events say again once their deltas have said them: told once, then named.

The Responses API repeats each text four times; ``{"$text": 0}`` stands for the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.format.folding_runs import Flat, put, whole

WITH: Final = "$with"
_TEXT: Final = "$text"

#: A shorter text costs less than the reference to it.
_WORTH_A_REFERENCE = 32


@dataclass(frozen=True, slots=True)
class References:
    """Texts that ran through deltas so far: later events that repeat one name its number."""

    texts: list[str] = field(default_factory=list)

    def add(self, texts: Sequence[str]) -> None:
        """Know these from now on."""
        self.texts.extend(text for text in texts if len(text) >= _WORTH_A_REFERENCE)

    def shorten(self, event: Flat) -> JsonObject:
        """Return an event, marked when texts in it are only named; it is not to be used again."""
        found = [
            (path, self.texts.index(leaf))
            for path, leaf in zip(event.paths, event.leaves, strict=True)
            if type(leaf) is str and len(leaf) >= _WORTH_A_REFERENCE and leaf in self.texts
        ]
        if not found or any(_TEXT in path for path in event.paths):
            return event.value
        for path, number in found:
            put(event.value, path, {_TEXT: number})
        return {WITH: event.value}

    def restore(self, value: Json) -> Json:
        """Return an event with its texts."""
        if isinstance(value, Mapping):
            if len(value) == 1 and _TEXT in value:
                return self.texts[whole(value[_TEXT])]
            return {key: self.restore(inner) for key, inner in value.items()}
        return [self.restore(inner) for inner in value] if isinstance(value, list) else value

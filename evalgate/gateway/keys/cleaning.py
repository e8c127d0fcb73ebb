"""Pieces of requests in stored form: secrets, own paths and volatile text replaced.

A conversation repeats its pieces, so each distinct one is cleaned once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.json import Json
from evalgate.core.places import replace_places
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece
from evalgate.core.scrubs import (
    PLACES_HIT,
    SECRETS_HIT,
    Scrub,
    rules_of,
    usual_scrubs,
)
from evalgate.gateway.keys.canonical import decode_exactly, encode
from evalgate.gateway.keys.scrubbing import scrub_text, scrub_value
from evalgate.gateway.streams.blocks import edit_blocks, may_have_blocks

USUAL: Final = usual_scrubs()

#: Beyond so many bytes the memories of pieces are emptied: they spare work, and hold nothing else.
_MOST_HELD: Final = 64 << 20


@dataclass(slots=True)
class _Memory:
    """Pieces by dialect and canonical JSON, each with what it took; ``size`` counts bytes.

    Written by the thread of the gateway alone.
    """

    known: dict[tuple[str, bytes], tuple[Piece, Counter[str]]] = field(default_factory=dict)
    size: int = 0


class Pieces:
    """Pieces that were cleaned, for all trials that clean alike: a suite repeats its prompts."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._memories: dict[Hashable, _Memory] = {}

    def alike(self, *said: Hashable) -> _Memory:
        """Return the memory of those who clean alike; trials ask, each in a thread of its own.

        When too much is held all of it is forgotten, but for what trials under way still use.
        """
        with self._lock:
            if sum(memory.size for memory in self._memories.values()) > _MOST_HELD:
                self._memories.clear()
            return self._memories.setdefault(said, _Memory())


class Cleaner:
    """Cleans pieces; ``hits`` counts what was replaced, by rule, once for each distinct piece."""

    def __init__(
        self,
        *,
        redactor: Redactor,
        places: Mapping[str, str],
        scrubs: Sequence[Scrub] = USUAL,
        pieces: Pieces | None = None,
    ) -> None:
        """Take out the secrets of ``redactor``, the paths of ``places`` (label -> path)."""
        self.hits: Counter[str] = Counter()
        self._redactor = redactor
        self._places = places
        self._scrubs = tuple(scrubs)
        self._rules: dict[str, list[tuple[Scrub, tuple[bytes, ...]]]] = {}
        self._own: dict[tuple[str, bytes], Piece] = {}
        self._texts: dict[str, str] = {}
        self._shared = (pieces or Pieces()).alike(
            redactor.known, tuple(sorted(places.items())), self._scrubs
        )

    def piece(self, data: bytes, dialect: str) -> Piece:
        """Return the stored form of a value given as canonical JSON.

        UsageError when a rule of the project's own does not come to an end.
        """
        own = self._own.get((dialect, data))
        if own is not None:
            return own
        known = self._shared.known.get((dialect, data))
        if known is None:
            hits: Counter[str] = Counter()
            clean = self._cleaned(data, dialect, hits)
            # One object where nothing was replaced: it is held as often as it is said.
            known = Piece.of(data if clean == data else clean), hits
            self._shared.known[dialect, data] = known
            self._shared.size += len(data) + len(clean)
        self.hits += known[1]
        self._own[dialect, data] = known[0]
        return known[0]

    def setting(self, data: bytes) -> Piece:
        """Return the stored form of a value that is no text said to the model: never scrubbed."""
        known = self._own.get(("", data))
        if known is None:
            known = self._own["", data] = Piece.of(self._replaced(data, self.hits))
        return known

    def know(self, piece: Piece, dialect: str) -> None:
        """Take a recorded piece for clean: who says the same, byte for byte, says that piece."""
        self._own[dialect, piece.data] = piece

    def raw(self, data: bytes, dialect: str) -> bytes:
        """Return the stored form of a body that is no JSON object."""
        clean = self._replaced(data, self.hits)
        rules = self._rules_for(clean, dialect)
        if not rules:
            return clean
        text = clean.decode("utf-8", "surrogateescape")
        return scrub_text(text, rules, self.hits).encode("utf-8", "surrogateescape")

    def text(self, text: str) -> str:
        """Return a name, a header or a path without secrets and own paths."""
        known = self._texts.get(text)
        if known is None:
            data = self._replaced(text.encode("utf-8", "surrogatepass"), self.hits)
            known = self._texts[text] = data.decode("utf-8", "surrogatepass")
        return known

    def clean_blocks(self, items: list[Json]) -> None:
        """Take out, in place, the secrets that are cut over items side by side, as of a prompt."""
        if sum(isinstance(item, dict) and "text" in item for item in items) > 1:
            self.hits[SECRETS_HIT] += edit_blocks(items, self._redactor.spans)

    def _cleaned(self, data: bytes, dialect: str, hits: Counter[str]) -> bytes:
        clean = self._joined(self._replaced(data, hits), hits)
        rules = self._rules_for(clean, dialect)
        if clean == data and not rules:
            return data
        exact, value = decode_exactly(clean)
        if not exact:
            # Two members had names that only a secret or a path told apart.
            return encode(clean.decode("utf-8", "backslashreplace"))
        return encode(scrub_value(value, rules, hits) if rules else value)

    def _joined(self, data: bytes, hits: Counter[str]) -> bytes:
        """Return JSON without secrets that are cut over blocks of text."""
        if not may_have_blocks(data):
            return data
        exact, value = decode_exactly(data)
        found = edit_blocks(value, self._redactor.spans) if exact else 0
        if not found:
            return data
        hits[SECRETS_HIT] += found
        return encode(value)

    def _rules_for(self, data: bytes, dialect: str) -> list[Scrub]:
        if dialect not in self._rules:
            self._rules[dialect] = rules_of(self._scrubs, dialect)
        found = []
        for rule, needles in self._rules[dialect]:
            for needle in needles:
                if needle in data:
                    found.append(rule)
                    break
            if not needles:
                found.append(rule)
        return found

    def _replaced(self, data: bytes, hits: Counter[str]) -> bytes:
        clean = self._redactor.data(data)
        if clean != data:
            hits[SECRETS_HIT] += clean.count(b"<secret:") - data.count(b"<secret:")
        moved = replace_places(clean, self._places)
        if moved != clean:
            hits[PLACES_HIT] += sum(
                moved.count(label) - clean.count(label)
                for label in (f"<{name}".encode() for name in self._places)
            )
        return moved

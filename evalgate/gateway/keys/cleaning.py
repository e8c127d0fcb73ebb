"""Pieces of requests in stored form: secrets, own paths and volatile text replaced.

A conversation repeats its pieces, so each distinct one is cleaned once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from evalgate.core.places import replace_places
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece
from evalgate.core.scrubs import (
    PLACES_HIT,
    SECRETS_HIT,
    Scrub,
    rules_of,
    scrub_text,
    scrub_value,
    usual_scrubs,
)
from evalgate.gateway.keys.canonical import decode_exactly, encode

USUAL: Final = usual_scrubs()

#: Beyond so many bytes the memory of pieces is emptied: it spares work, and holds nothing else.
_MOST_HELD: Final = 64 << 20


class Pieces:
    """Pieces that were cleaned, for all trials that clean alike: a suite repeats its prompts."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: dict[Hashable, dict[tuple[str, bytes], tuple[Piece, Counter[str]]]] = {}
        self._held = 0

    def alike(self, *said: Hashable) -> dict[tuple[str, bytes], tuple[Piece, Counter[str]]]:
        """Return the memory of those who clean alike; what each piece took is kept beside it."""
        if self._held > _MOST_HELD:
            self._known.clear()
            self._held = 0
        return self._known.setdefault(said, {})

    def hold(self, size: int) -> None:
        """Count what is held, so that it never grows without an end."""
        self._held += size


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
        self._pieces = pieces or Pieces()
        self._shared = self._pieces.alike(
            redactor.known, tuple(sorted(places.items())), self._scrubs
        )

    def piece(self, data: bytes, dialect: str) -> Piece:
        """Return the stored form of a value given as canonical JSON."""
        own = self._own.get((dialect, data))
        if own is not None:
            return own
        known = self._shared.get((dialect, data))
        if known is None:
            hits: Counter[str] = Counter()
            clean = self._cleaned(data, dialect, hits)
            # One object where nothing was replaced: it is held as often as it is said.
            known = Piece.of(data if clean == data else clean), hits
            self._shared[dialect, data] = known
            self._pieces.hold(len(data) + len(clean))
        self.hits += known[1]
        self._own[dialect, data] = known[0]
        return known[0]

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

    def _cleaned(self, data: bytes, dialect: str, hits: Counter[str]) -> bytes:
        clean = self._replaced(data, hits)
        rules = self._rules_for(clean, dialect)
        if clean == data and not rules:
            return data
        exact, value = decode_exactly(clean)
        if not exact:
            # Two members had names that only a secret or a path told apart.
            return encode(clean.decode("utf-8", "backslashreplace"))
        return encode(scrub_value(value, rules, hits) if rules else value)

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

"""Pieces of requests in stored form: secrets, own paths and volatile text replaced.

A conversation repeats its pieces, so each distinct one is cleaned once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from evalgate.core.places import replace_places
from evalgate.core.redaction import Redactor
from evalgate.core.request import Piece
from evalgate.core.scrubs import SCRUBS, Scrub, rules_for, scrub_text, scrub_value, usual_scrubs
from evalgate.gateway.canonical import decode_exactly, encode

USUAL: Final = usual_scrubs()

#: Beyond so many bytes the memory of pieces is emptied: it spares work, and holds nothing else.
_MOST_HELD: Final = 64 << 20

#: How the counts of what no scrub rule did are named.
PLACES_HIT: Final = "places"
SECRETS_HIT: Final = "secrets"

assert all(rule.name not in {PLACES_HIT, SECRETS_HIT} for rule in SCRUBS)  # noqa: S101


class Cleaner:
    """Cleans pieces; ``hits`` counts what was replaced, by rule, once for each distinct piece."""

    def __init__(
        self,
        *,
        redactor: Redactor,
        places: Mapping[str, str],
        scrubs: Sequence[Scrub] = USUAL,
    ) -> None:
        """Take out the secrets of ``redactor``, the paths of ``places`` (label -> path)."""
        self.hits: Counter[str] = Counter()
        self._redactor = redactor
        self._places = places
        self._scrubs = scrubs
        self._pieces: dict[tuple[str, bytes], Piece] = {}
        self._held = 0

    def piece(self, data: bytes, dialect: str) -> Piece:
        """Return the stored form of a value given as canonical JSON."""
        known = self._pieces.get((dialect, data))
        if known is not None:
            return known
        piece = Piece.of(self._cleaned(data, dialect))
        if self._held > _MOST_HELD:
            self._pieces.clear()
            self._held = 0
        self._pieces[dialect, data] = piece
        self._held += len(data) + len(piece.data)
        return piece

    def raw(self, data: bytes, dialect: str) -> bytes:
        """Return the stored form of a body that is no JSON object."""
        clean = self._replaced(data)
        rules = rules_for(self._scrubs, dialect, clean)
        if not rules:
            return clean
        text = clean.decode("utf-8", "surrogateescape")
        return scrub_text(text, rules, self.hits).encode("utf-8", "surrogateescape")

    def text(self, text: str) -> str:
        """Return a name, a header or a path without secrets and own paths."""
        clean = self._replaced(text.encode("utf-8", "surrogatepass"))
        return clean.decode("utf-8", "surrogatepass")

    def _cleaned(self, data: bytes, dialect: str) -> bytes:
        clean = self._replaced(data)
        rules = rules_for(self._scrubs, dialect, clean)
        if clean == data and not rules:
            return data
        exact, value = decode_exactly(clean)
        if not exact:
            # Two members had names that only a secret or a path told apart.
            return encode(clean.decode("utf-8", "backslashreplace"))
        return encode(scrub_value(value, rules, self.hits) if rules else value)

    def _replaced(self, data: bytes) -> bytes:
        clean = self._redactor.data(data)
        if clean != data:
            self.hits[SECRETS_HIT] += clean.count(b"<secret:") - data.count(b"<secret:")
        moved = replace_places(clean, self._places)
        if moved != clean:
            self.hits[PLACES_HIT] += sum(
                moved.count(label) - clean.count(label)
                for label in (f"<{name}".encode() for name in self._places)
            )
        return moved

"""What the texts of an exchange say that are cut into pieces: for whoever looks for secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from evalgate.core.exchange import Exchange
from evalgate.core.json import Json
from evalgate.core.redaction import Span
from evalgate.core.request import Piece
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.streams.blocks import edit_blocks, may_have_blocks
from evalgate.gateway.streams.editing import edit_joined


class JoinedTexts:
    """Reads exchanges one after the other; what an earlier one has said is not read again."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._seen: set[bytes | tuple[Piece, ...]] = set()

    def of(self, exchange: Exchange) -> Iterator[tuple[str, bytes]]:
        """Yield a JSON path and a text: blocks side by side, and pieces of a reply, joined."""
        request = exchange.request
        for name, member in request.members.items():
            known = DIALECTS.get(exchange.dialect)
            if isinstance(member, tuple) and not (known and name == known.conversation):
                yield from self._list(f"request.{name}", member)
            for index, piece in enumerate((member,) if isinstance(member, Piece) else member):
                if may_have_blocks(piece.data) and piece.digest not in self._seen:
                    self._seen.add(piece.digest)
                    place = f"request.{name}" + ("" if member is piece else f"[{index}]")
                    yield from ((place, text) for text in joined_in(piece.data))
        yield from (("request", text) for text in joined_in(request.raw or b""))
        yield from (("reply", text) for text in joined_in(exchange.body))

    def _list(self, place: str, member: tuple[Piece, ...]) -> Iterator[tuple[str, bytes]]:
        whole = b",".join(piece.data for piece in member)
        if member not in self._seen and may_have_blocks(whole):
            self._seen.add(member)
            value: Json = orjson.loads(b"[" + whole + b"]")
            heard = _Heard()
            edit_blocks(value, heard)
            yield from ((place, text) for text in heard.texts)


def joined_in(body: bytes) -> list[bytes]:
    """Return the joined texts of a body: of a stream, an array, or one JSON value."""
    heard = _Heard()
    edit_joined(body, heard)
    return heard.texts


class _Heard:
    """Listens to what is joined, and finds nothing in it."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    def __call__(self, text: str) -> Sequence[Span]:
        self.texts.append(text.encode("utf-8", "surrogatepass"))
        return ()

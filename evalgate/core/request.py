"""A request in stored form: a JSON object in pieces that conversations share.

A turn repeats the prompt, the tools and all messages before it. Cut into pieces, a whole
conversation holds each of them once, and two requests are compared by their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Piece:
    """A value as canonical JSON (sorted members, no spaces), and its sha256."""

    data: bytes
    digest: bytes = field(repr=False)

    @classmethod
    def of(cls, data: bytes) -> Piece:
        """Return the piece of this canonical JSON."""
        return cls(data, hashlib.sha256(data).digest())


#: A member's value: a list item by item, anything else as one piece.
Member = Piece | tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """The body of a request as it is matched and kept; secrets and own paths are replaced.

    ``members`` are those of a JSON object, by name. ``raw`` is a body that is no object, or
    that JSON would not survive (a number beyond 64 bits, a member named twice): it has no
    members, and is keyed by its bytes.
    """

    members: Mapping[str, Member] = field(default_factory=dict)
    raw: bytes | None = None

    @property
    def data(self) -> bytes:
        """The whole body: canonical JSON, or the raw bytes."""
        if self.raw is not None:
            return self.raw
        inner = b",".join(
            _name(name) + b":" + _written(self.members[name]) for name in sorted(self.members)
        )
        return b"{" + inner + b"}"

    def only(self, name: str) -> bytes:
        """Return an object of this one member, to be read without all the rest."""
        if self.raw is not None:
            return self.raw
        member = self.members.get(name)
        return b"{}" if member is None else b"{" + _name(name) + b":" + _written(member) + b"}"

    def digest(self) -> bytes:
        """Return the digest (32 bytes) of all pieces, chained; a list's length counts."""
        chain = hashlib.sha256()
        if self.raw is not None:
            chain.update(b"raw\0" + self.raw)
            return chain.digest()
        for name in sorted(self.members):
            member = self.members[name]
            chain.update(_name(name))
            if isinstance(member, Piece):
                chain.update(b":" + member.digest)
            else:
                chain.update(b"[%d" % len(member) + b"".join(piece.digest for piece in member))
        return chain.digest()


def distinct(requests: Iterable[StoredRequest]) -> Iterator[Piece]:
    """Yield each piece of the requests once."""
    seen: set[bytes] = set()
    for request in requests:
        for member in request.members.values():
            for piece in (member,) if isinstance(member, Piece) else member:
                if piece.digest not in seen:
                    seen.add(piece.digest)
                    yield piece


@lru_cache(maxsize=1024)
def _name(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def _written(member: Member) -> bytes:
    if isinstance(member, Piece):
        return member.data
    return b"[" + b",".join(piece.data for piece in member) + b"]"

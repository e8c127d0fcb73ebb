"""The key a request is matched by: a digest of all that it says to the model, and nothing else.

Of the headers only those that a dialect names are in it: ids of sessions and processes stand in
the others. ``stream`` is in it: the recorded bytes of a stream are no answer to a client that
asked for JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final
from urllib.parse import urlencode

from evalgate.core.exchange import Exchange
from evalgate.core.json import Json
from evalgate.core.request import Member, StoredRequest
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.canonical import decode_exactly, encode
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.conversation import Conversations, tail_of

#: The version of the key's making; part of every key.
FORMAT: Final = 2

#: Members of a query that say nothing to the model. What could be a key never gets here.
_QUERY_DROPS: Final = frozenset({"beta"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """A request as it is stored and matched; ``asked`` holds the headers that are kept."""

    dialect: str
    method: str
    path: str
    request: StoredRequest
    key: str
    query: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, exchange: Exchange) -> Keyed:
        """Return the request of an exchange."""
        return cls(
            dialect=exchange.dialect,
            method=exchange.method,
            path=exchange.path,
            query=exchange.query,
            asked=exchange.asked,
            request=exchange.request,
            key=exchange.key,
        )

    def answered(
        self, *, status: int, headers: Mapping[str, str], body: bytes, began: float
    ) -> Exchange:
        """Return the exchange that this request and its response make."""
        return Exchange(
            dialect=self.dialect,
            method=self.method,
            path=self.path,
            query=self.query,
            asked=self.asked,
            request=self.request,
            key=self.key,
            status=status,
            headers=headers,
            body=body,
            began=began,
        )


class Keying:
    """Gives the requests of one trial their stored form and key."""

    def __init__(self, cleaner: Cleaner) -> None:
        """Clean with this."""
        self.cleaner = cleaner
        self._conversations = Conversations()

    def keyed(
        self,
        dialect: Dialect,
        method: str,
        path: str,
        body: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        query: Iterable[tuple[str, str]] = (),
    ) -> Keyed:
        """Return a request in its stored form, with its key; ``path`` is the API's own.

        ``query`` has its members in their order, repeated ones as often as they were sent.
        """
        heeded = dialect.headers | dialect.noted
        asked = {
            name.lower(): self.cleaner.text(value)
            for name, value in (headers or {}).items()
            if name.lower() in heeded
        }
        plain = self.cleaner.text(path)
        said = self.cleaner.text(_query(query))
        request = self._stored(dialect, path, body)
        return Keyed(
            dialect=dialect.name,
            method=method,
            path=plain,
            query=said,
            request=request,
            asked=dict(sorted(asked.items())),
            key=key_of(method, plain, request, query=said, asked=asked, headers=dialect.headers),
        )

    def _stored(self, dialect: Dialect, path: str, body: bytes) -> StoredRequest:
        where, name = (dialect.name, path), dialect.conversation
        growth = self._conversations.find(where, body)
        if growth is not None:
            for drop in dialect.drops:
                if drop.path[:2] == (name, "*"):
                    remove(growth.added, drop.path[1:])
            cleaner = self.cleaner
            added = tuple(cleaner.piece(encode(one), dialect.name) for one in growth.added)
            request = growth.request(added)
            self._conversations.grow(growth, request)
            return request
        exact, value = decode_exactly(body)
        if not exact or not isinstance(value, dict):
            return StoredRequest(raw=self.cleaner.raw(body, dialect.name))
        tail = tail_of(body, value, name)
        request = stored(dialect, value, self.cleaner)
        if tail is not None:
            self._conversations.note(where, body, tail, request)
        return request


def stored(dialect: Dialect, value: dict[str, Json], cleaner: Cleaner) -> StoredRequest:
    """Return a request that is a JSON object in stored form; ``value`` loses what is dropped."""
    for drop in dialect.drops:
        remove(value, drop.path)
    members: dict[str, Member] = {}
    for name, inner in value.items():
        plain = cleaner.text(name)
        if plain in members:
            # Two names that only a secret told apart: nothing of the body may be lost.
            return StoredRequest(raw=cleaner.raw(encode(value), dialect.name))
        if isinstance(inner, list):
            if name != dialect.conversation:
                cleaner.clean_blocks(inner)
            members[plain] = tuple(cleaner.piece(encode(item), dialect.name) for item in inner)
        elif _is_setting(dialect, name, inner):
            members[plain] = cleaner.setting(encode(inner))
        else:
            members[plain] = cleaner.piece(encode(inner), dialect.name)
    return StoredRequest(members=members)


def _is_setting(dialect: Dialect, name: str, value: Json) -> bool:
    """Tell a model's id, or a parameter in a word, from text that is said to the model."""
    if not isinstance(value, str):
        return False
    known = not dialect.is_unknown and dialect.part_of(name) == "parameters"
    return known or name == "model"


def remove(value: Json, path: Sequence[str]) -> None:
    """Take out what stands at an exact path; ``*`` is every item of a list."""
    step, rest = path[0], path[1:]
    if step == "*":
        for item in value if isinstance(value, list) else ():
            remove(item, rest)
    elif isinstance(value, dict) and step in value:
        if rest:
            remove(value[step], rest)
        else:
            del value[step]


def key_of(
    method: str,
    path: str,
    request: StoredRequest,
    *,
    query: str = "",
    asked: Mapping[str, str] | None = None,
    headers: frozenset[str] = frozenset(),
) -> str:
    """Return the key (64 hex) of a request in its stored form.

    ``headers`` names those of ``asked`` that belong to it.
    """
    said = [f"{name}:{value}" for name, value in sorted((asked or {}).items()) if name in headers]
    head = "\0".join((f"evalgate request {FORMAT}", method, path, query, *said))
    data = head.encode("utf-8", "surrogatepass") + b"\0\0" + request.digest()
    return hashlib.sha256(data).hexdigest()


def key_again(exchange: Exchange) -> str:
    """Return the key of an exchange that was read, made as keys are made today."""
    dialect = DIALECTS.get(exchange.dialect)
    return key_of(
        exchange.method,
        exchange.path,
        exchange.request,
        query=exchange.query,
        asked=exchange.asked,
        headers=dialect.headers if dialect else frozenset(),
    )


def without_keys(query: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the members of a query in their order, without what could hold a key."""
    return [(name, value) for name, value in query if "key" not in name.lower()]


def _query(query: Iterable[tuple[str, str]]) -> str:
    """Return a query by name; what is said twice keeps its order, which can mean something."""
    said = ((name, value) for name, value in query if name not in _QUERY_DROPS)
    return urlencode(sorted(said, key=itemgetter(0)), errors="surrogateescape")

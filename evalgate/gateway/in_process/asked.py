"""A request as VCR.py shows it, whichever library made it, in the form it is matched by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from evalgate.errors import UsageError
from evalgate.gateway.dialects.table import find_dialect
from evalgate.gateway.keys.matching import Keyed, Keying, without_keys


class Asked(Protocol):
    """What of VCR.py's request is read; each request is one object."""

    @property
    def method(self) -> str:
        """Its verb."""
        ...

    @property
    def uri(self) -> str:
        """Where it goes, with the query."""
        ...

    @property
    def headers(self) -> Mapping[str, str | bytes]:
        """What the client says beside the body."""
        ...

    @property
    def body_bytes(self) -> object:
        """The body; some libraries give the value that they would write."""
        ...


def keyed(request: Asked, keying: Keying) -> Keyed:
    """Return the request in stored form, with its key. UsageError when it names no API."""
    url = urlsplit(request.uri)
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    dialect, path = find_dialect(request.method, url.path or "/", headers) or (None, "")
    if dialect is None:
        raise UsageError(f"evalgate.vcr: {request.method} {url.path} names no API")
    if dialect.is_unknown:
        path = f"//{url.netloc.rpartition('@')[2]}{path}"
    query = without_keys(parse_qsl(url.query))
    sent = _sent(request.body_bytes)
    return keying.keyed(dialect, request.method, path, sent, headers=headers, query=query)


def _sent(body: object) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    return bytes(body) if isinstance(body, bytes | bytearray) else json.dumps(body).encode()


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value

"""Where the model is: one request out, with the key that only this process holds."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import aiohttp
from yarl import URL

from evalgate.gateway.dialects.dialect import BEARER, Dialect
from evalgate.gateway.dialects.table import DIALECTS

#: Waiting longer than this for a retry would look like a slow agent.
LONGEST_WAIT: Final = 20.0
_DEFAULT_WAIT: Final = 1.0
_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=600)

#: Of the agent's headers these go on, and those that a dialect names; what could hold a key, a
#: cookie or a session does not.
_FORWARDED: Final = frozenset({"accept", "content-type", "user-agent"})
_FORWARDED_TOO: Final = tuple(start for dialect in DIALECTS.values() for start in dialect.forwarded)

#: Of the provider's headers these come back, live and in replay, and are recorded.
RETURNED: Final = frozenset(
    {
        "content-type",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A model's API: ``url`` is the base without ``/v1``; the key never shows in a repr.

    ``dialects`` names the dialects it speaks, None for any; ``key_header`` is the header that
    carries the key, in ``authorization`` as a bearer token.
    """

    url: str
    dialects: frozenset[str] | None = None
    key: str | None = field(default=None, repr=False)
    key_header: str = BEARER

    def key_headers(self) -> dict[str, str]:
        """Return the header that holds the key; none without a key."""
        if self.key is None:
            return {}
        bearer = self.key_header.lower() == BEARER
        return {self.key_header: f"Bearer {self.key}" if bearer else self.key}

    def speaks(self, dialect: Dialect) -> bool:
        """Tell whether requests of this dialect can go there; those of none may go anywhere."""
        return self.dialects is None or dialect.is_unknown or dialect.name in self.dialects


async def send(
    session: aiohttp.ClientSession,
    upstream: Upstream,
    *,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
) -> aiohttp.ClientResponse:
    """Send a request; try once more after 429, 5xx or a failed connection.

    ``target`` is the API's path with its query, sent as it is. Raises aiohttp.ClientError or
    TimeoutError when no response began the second time either. The body of the response is not
    read yet, so nothing was relayed when a second attempt is made.
    """
    outgoing = _outgoing(upstream, headers)
    url = URL(str(URL(upstream.url)).rstrip("/") + target, encoded=True)

    async def ask() -> aiohttp.ClientResponse:
        # A redirect would carry the key to a place nobody named. A file goes out in pieces, so
        # a large body does not hold up the loop.
        data = io.BytesIO(body) if body else None
        return await session.request(
            method, url, headers=outgoing, data=data, allow_redirects=False
        )

    try:
        response = await ask()
    except (aiohttp.ClientConnectionError, TimeoutError):
        await asyncio.sleep(_DEFAULT_WAIT)
        return await ask()
    if not _is_passing(response.status):
        return response
    wait = _wait(response.headers)
    if wait is None:
        return response
    response.close()
    await asyncio.sleep(wait)
    return await ask()


def choose_upstream(
    upstreams: Mapping[str, Upstream], model: str | None, dialect: Dialect, *, turn: bool
) -> Upstream | str:
    """Return where a request goes, or why it can not go anywhere.

    A request that names no model, and is no turn of one, goes to the only place there is.
    """
    if model is not None or turn:
        upstream = upstreams.get(model or "")
        if model is None:
            return "the request names no model"
        if upstream is None:
            return f"model {model} is not configured"
        if not upstream.speaks(dialect):
            return f"model {model} is not configured for the dialect {dialect.name}"
        return upstream
    fits = {name: up for name, up in upstreams.items() if up.speaks(dialect)}
    if not fits:
        spoken = {name for up in upstreams.values() for name in up.dialects or ()}
        only = f", only for {', '.join(sorted(spoken))}" if spoken else ""
        return f"no model is configured for the dialect {dialect.name}{only}"
    places = set(fits.values())
    if len(places) == 1:
        return places.pop()
    return f"the request names no model, and could go to several: {', '.join(sorted(fits))}"


def open_session() -> aiohttp.ClientSession:
    """Return the session of a gateway; identity encoding, so bytes pass as they come."""
    return aiohttp.ClientSession(
        timeout=_TIMEOUT,
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def returned(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the headers of a response that are relayed and recorded, names in lower case."""
    return {name.lower(): value for name, value in headers if name.lower() in RETURNED}


def _outgoing(upstream: Upstream, headers: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _FORWARDED or name.lower().startswith(_FORWARDED_TOO)
    }
    kept["accept-encoding"] = "identity"
    return kept | upstream.key_headers()


def _is_passing(status: int) -> bool:
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, or None when the provider asks for longer than we would."""
    asked = headers.get("retry-after")
    if asked is None:
        return _DEFAULT_WAIT
    try:
        seconds = float(asked)
    except ValueError:
        # An HTTP date: the clocks of two machines say nothing about a wait of seconds.
        return _DEFAULT_WAIT
    return seconds if 0 <= seconds <= LONGEST_WAIT else None

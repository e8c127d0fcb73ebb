"""Where a request goes on its API, byte for byte as it came: an encoded slash is no slash."""

from __future__ import annotations

from urllib.parse import parse_qsl

from evalgate.gateway.keys.matching import without_keys


def as_it_came(path: str, *, plain: str, raw: str) -> str:
    """Return an API's path with each segment as it stands in ``raw``.

    ``plain`` is ``raw`` decoded but for slashes, so both have the same segments; ``path`` ends as
    ``plain`` does. What it has before that is its dialect's own.
    """
    mine, came = path.split("/"), [*zip(plain.split("/"), raw.split("/"), strict=True)]
    for at in range(1, min(len(mine), len(came)) + 1):
        decoded, encoded = came[-at]
        if mine[-at] != decoded:
            break
        mine[-at] = encoded
    return "/".join(mine)


def query_of(raw: str) -> list[tuple[str, str]]:
    """Return the members of a query, decoded, without what could hold a key.

    Bytes that are no text stay apart from one another.
    """
    return without_keys(parse_qsl(raw, keep_blank_values=True, errors="surrogateescape"))


def raw_query(raw: str) -> str:
    """Return a query as it came, without the members that could hold a key."""
    return "&".join(one for one in raw.split("&") if not one or query_of(one))

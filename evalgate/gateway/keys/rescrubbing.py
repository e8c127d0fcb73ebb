"""Recordings made under other scrub rules: scrubbed once more, so that old keys never linger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from evalgate.core.exchange import Exchange
from evalgate.core.json import Json
from evalgate.core.redaction import Redactor
from evalgate.core.request import StoredRequest
from evalgate.core.scrubs import Scrub, scrubs_digest
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import FORMAT, key_again, stored


def rules_header(scrubs: Sequence[Scrub], hits: Mapping[str, int]) -> dict[str, Json]:
    """Return what a cassette's header says of scrubbing: versions, and how often each rule hit."""
    return {
        "keys": FORMAT,
        "rules": scrubs_digest(scrubs),
        "hits": {name: count for name, count in sorted(hits.items()) if count},
    }


def wire_header(
    places: Mapping[str, str], scrubs: Sequence[Scrub], hits: Mapping[str, int]
) -> dict[str, Json]:
    """Return what the wire itself says of a recording: the run's own places, and scrubbing."""
    return {"places": dict(places), "scrubs": rules_header(scrubs, hits)}


def recorded_rules(header: Mapping[str, Json]) -> str:
    """Return the version of the rules a cassette was recorded under; empty when it says none."""
    said = header.get("scrubs")
    rules = said.get("rules") if isinstance(said, Mapping) else None
    return rules if isinstance(rules, str) else ""


def rescrubbed(
    exchanges: Sequence[Exchange], rules: str, scrubs: Sequence[Scrub]
) -> list[Exchange]:
    """Return the exchanges under these scrubs; unchanged when they were recorded under them."""
    if rules == scrubs_digest(scrubs):
        return list(exchanges)
    cleaner = Cleaner(redactor=Redactor({}), places={}, scrubs=scrubs)
    return [_again(one, cleaner) for one in exchanges]


def _again(exchange: Exchange, cleaner: Cleaner) -> Exchange:
    dialect = DIALECTS.get(exchange.dialect)
    if dialect is None:
        return exchange
    raw = exchange.request.raw
    if raw is not None:
        request = StoredRequest(raw=cleaner.raw(raw, dialect.name))
    else:
        request = stored(dialect, orjson.loads(exchange.request.data), cleaner)
    again = replace(exchange, request=request)
    return replace(again, key=key_again(again))

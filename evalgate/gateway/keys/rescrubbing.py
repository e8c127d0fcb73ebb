"""Recordings made under other scrub rules: scrubbed once more, so that old keys never linger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.request import StoredRequest
from evalgate.core.scrubs import Scrub, scrubs_digest
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.format.header import Scrubbed
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import FORMAT, key_again, stored


def scrubbed_by(scrubs: Sequence[Scrub], hits: Mapping[str, int] | None = None) -> Scrubbed:
    """Return what a cassette's header says of scrubbing by these rules, and of their hits."""
    counts = {name: count for name, count in sorted((hits or {}).items()) if count}
    return Scrubbed(keys=FORMAT, rules=scrubs_digest(scrubs), hits=counts)


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

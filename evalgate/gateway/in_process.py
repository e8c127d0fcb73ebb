"""Cassettes for agents that call their model inside a process of their own choosing.

A program that can not be given a base URL (boto3, the SDK of a vendor) is recorded and replayed
by VCR.py's own patches of the HTTP libraries, with our keys, our redaction and our file format.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from evalgate.core.exchange import Exchange, Miss
from evalgate.core.json import JsonObject
from evalgate.core.redaction import Redactor, known_secrets
from evalgate.core.scrubs import Scrub
from evalgate.disk import write_whole
from evalgate.errors import DivergedError, UsageError
from evalgate.gateway.capture import clean_body
from evalgate.gateway.dialects.table import find_dialect
from evalgate.gateway.format.cassette_format import CassetteFile, dump_cassette, load_cassette
from evalgate.gateway.keys.cleaning import USUAL, Cleaner
from evalgate.gateway.keys.matching import Keyed, Keying, without_keys
from evalgate.gateway.keys.rescrubbing import recorded_rules, rescrubbed, rules_header
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.upstream import returned

if TYPE_CHECKING:
    from vcr.cassette import Cassette
    from vcr.request import Request

_KEY: Final = "x-evalgate-key"
_MATCHER: Final = "evalgate_key"


class Use(StrEnum):
    """Whether the real provider answers and is recorded, or the cassette answers, or neither."""

    RECORD = "record"
    REPLAY = "replay"
    LIVE = "live"


@contextmanager
def use_cassette(
    path: str | os.PathLike[str],
    *,
    mode: str = Use.REPLAY,
    secrets: Mapping[str, str] | None = None,
    places: Mapping[str, str] | None = None,
    scrubs: Sequence[Scrub] = USUAL,
) -> Iterator[None]:
    """Record the model traffic of this process into a cassette, or replay it.

    Only for one thread at a time: while VCR.py makes a connection, no thread is patched.
    ``mode`` is ``record``, ``replay`` (strict: nothing reaches the network) or ``live`` (nothing
    is done). ``secrets`` are values by name that must not be stored, beside those of the
    environment; ``places`` are paths of this machine by label. A request that was not recorded
    raises DivergedError inside the client and, should that swallow it, when the context ends.
    """
    chosen = _mode(mode)
    if chosen is Use.LIVE:
        yield
        return
    redactor = Redactor({**known_secrets(os.environ), **(secrets or {})})
    file = Path(path)
    tape: list[Exchange] = []
    if chosen is Use.REPLAY:
        tape = _recorded(file, scrubs)
    cleaner = Cleaner(redactor=redactor, places=places or {}, scrubs=scrubs)
    seam = _Seam(keying=Keying(cleaner), redactor=redactor, tape=tape, replays=chosen is Use.REPLAY)
    # The key replaces everything VCR.py would compare; the recording modes are its own.
    engine = _engine(seam)
    known = "none" if seam.replays else "all"
    with engine.use_cassette(file, record_mode=known, record_on_exception=False) as cassette:
        seam.cassette = cassette
        yield
    if seam.misses:
        raise _diverged(seam.misses[0])
    if not seam.replays:
        rules = rules_header(scrubs, cleaner.hits)
        header: JsonObject = {"recorder": "evalgate.vcr", "scrubs": rules}
        whole = CassetteFile(header=header, exchanges=tuple(seam.kept), claim={}, record={})
        write_whole(file, dump_cassette(whole, redactor=redactor))


def _mode(mode: str) -> Use:
    try:
        return Use(mode)
    except ValueError:
        message = f"evalgate.vcr: there is no mode {mode!r}"
        raise UsageError(message, hint=f"one of {', '.join(Use)}") from None


def _recorded(file: Path, scrubs: Sequence[Scrub]) -> list[Exchange]:
    try:
        data = file.read_bytes()
    except OSError as error:
        message = f"{file}: no cassette to replay: {error.strerror}"
        raise UsageError(message, hint='record it with mode="record"') from error
    read = load_cassette(data, name=str(file))
    return rescrubbed(read.exchanges, recorded_rules(read.header), scrubs)


@dataclass(slots=True, kw_only=True)
class _Seam:
    """What VCR.py asks of us: a key for each request, a clean response, a place to keep them."""

    keying: Keying
    redactor: Redactor
    tape: Sequence[Exchange]
    replays: bool
    cassette: Cassette | None = None
    kept: list[Exchange] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    keyed: dict[str, Keyed] = field(default_factory=dict)
    opened: float = field(default_factory=time.monotonic)

    def request(self, request: Request) -> Request:
        """Return the request as VCR.py is to see it; asked several times for each."""
        from vcr.request import Request as Seen  # noqa: PLC0415

        if _KEY in request.headers:
            return request
        keyed = self._keyed(request)
        self.keyed[keyed.key] = keyed
        if self.replays and self.cassette is not None and not self._left(keyed.key):
            miss = explain(keyed, self.tape, self._played())
            self.misses.append(miss)
            raise _diverged(miss)
        return Seen("POST", "http://model/", None, {_KEY: keyed.key})

    def load_cassette(self, path: str, serializer: object) -> tuple[list[Request], list[object]]:  # noqa: ARG002
        """Give VCR.py what is replayed."""
        from vcr.persisters.filesystem import CassetteNotFoundError  # noqa: PLC0415
        from vcr.request import Request as Seen  # noqa: PLC0415

        if not self.replays:
            raise CassetteNotFoundError(path)
        requests = [Seen("POST", "http://model/", None, {_KEY: one.key}) for one in self.tape]
        return requests, [_response(one) for one in self.tape]

    def save_cassette(self, path: str, recorded: Mapping[str, Any], serializer: object) -> None:  # noqa: ARG002
        """Take from VCR.py what was recorded."""
        if self.replays:
            return
        pairs = zip(recorded["requests"], recorded["responses"], strict=True)
        self.kept = [self._exchange(*pair) for pair in pairs]

    def response(self, response: dict[str, Any]) -> dict[str, Any]:
        """Return the response as it is kept, and given to the agent again."""
        if self.replays:
            return response
        whole = response["body"]["string"]
        body = clean_body(whole if isinstance(whole, bytes) else whole.encode(), self.redactor)
        pairs = [
            (name, value)
            for name, values in response["headers"].items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        now = round(time.monotonic() - self.opened, 3)
        headers = {name: [self.redactor.text(v)] for name, v in returned(pairs).items()}
        return {**response, "headers": headers, "body": {"string": body}, "ended": now}

    def _keyed(self, request: Request) -> Keyed:
        url = urlsplit(request.uri)
        headers = {name.lower(): _text(value) for name, value in request.headers.items()}
        dialect, path = find_dialect(request.method, url.path or "/", headers) or (None, "")
        if dialect is None:
            raise UsageError(f"evalgate.vcr: {request.method} {url.path} names no API")
        if dialect.name == "passthrough":
            path = f"//{url.netloc.rpartition('@')[2]}{path}"
        query = without_keys(parse_qsl(url.query))
        sent = _sent(request.body_bytes)
        return self.keying.keyed(dialect, request.method, path, sent, headers=headers, query=query)

    def _played(self) -> frozenset[int]:
        counts = self.cassette.play_counts if self.cassette is not None else {}
        return frozenset(index for index, count in counts.items() if count)

    def _left(self, key: str) -> bool:
        played = self._played()
        return any(one.key == key for n, one in enumerate(self.tape) if n not in played)

    def _exchange(self, request: Request, response: Mapping[str, Any]) -> Exchange:
        return self.keyed[request.headers[_KEY]].answered(
            status=int(response["status"]["code"]),
            headers={name: values[0] for name, values in response["headers"].items()},
            body=response["body"]["string"],
            began=response["ended"],
        )


def _engine(seam: _Seam) -> Any:
    import vcr  # noqa: PLC0415

    engine = vcr.VCR(
        match_on=(_MATCHER,),
        before_record_request=seam.request,
        before_record_response=seam.response,
        decode_compressed_response=True,
    )
    engine.register_matcher(_MATCHER, _same_key)
    engine.register_persister(seam)
    return engine


def _same_key(one: Request, other: Request) -> bool:
    return bool(one.headers[_KEY] == other.headers[_KEY])


def _response(exchange: Exchange) -> dict[str, object]:
    headers = {name: [value] for name, value in exchange.headers.items()}
    status = {"code": exchange.status, "message": ""}
    return {"status": status, "headers": headers, "body": {"string": exchange.body}}


def _sent(body: object) -> bytes:
    """Return the bytes of a body; some libraries give VCR.py the value they would write."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    return bytes(body) if isinstance(body, bytes | bytearray) else json.dumps(body).encode()


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _diverged(miss: Miss) -> DivergedError:
    message = f"evalgate.vcr: {miss.sentence}"
    return DivergedError(message, hint='record again with mode="record"')

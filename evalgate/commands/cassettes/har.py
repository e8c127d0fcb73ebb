"""Exchanges in the HTTP Archive format 1.2 (http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from evalgate import __version__
from evalgate.core.exchange import Exchange
from evalgate.core.json import Json
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.streams.sse import is_stream

#: A cassette does not say where the model was served; no such host exists.
ORIGIN: Final = "https://model.invalid"


def har_of(tapes: Sequence[tuple[str, CassetteFile]]) -> dict[str, Json]:
    """Return the archive of named cassettes; times are the day of the recording and offsets."""
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "evalgate", "version": __version__},
            "comment": "; ".join(name for name, _ in tapes),
            "entries": [
                _entry(exchange, _day(tape), name)
                for name, tape in tapes
                for exchange in tape.exchanges
            ],
        }
    }


def _day(tape: CassetteFile) -> datetime:
    try:
        day = datetime.fromisoformat(tape.header.recorded)
    except ValueError:
        day = datetime.fromtimestamp(0, UTC)
    return day.replace(tzinfo=UTC)


def _entry(one: Exchange, day: datetime, name: str) -> dict[str, Json]:
    milliseconds = round(one.seconds * 1000, 3)
    url = f"{ORIGIN}{one.path}" + (f"?{one.query}" if one.query else "")
    data, encoding = _content(one.request.data)
    return {
        "startedDateTime": (day + timedelta(seconds=one.began)).isoformat(),
        "time": milliseconds,
        "request": {
            "method": one.method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _pairs(one.asked),
            "queryString": [{"name": n, "value": v} for n, v in parse_qsl(one.query, True)],  # noqa: FBT003
            "postData": {"mimeType": "application/json", "text": data, **_note(encoding)},
            "headersSize": -1,
            "bodySize": len(one.request.data),
        },
        "response": _response(one),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": f"{name}: {one.dialect}, {one.ending}",
    }


def _response(one: Exchange) -> dict[str, Json]:
    text, encoding = _content(one.body)
    usual = "text/event-stream" if is_stream(one.body) else "application/json"
    content: dict[str, Json] = {
        "size": len(one.body),
        "mimeType": one.headers.get("content-type", usual),
        "text": text,
    }
    return {
        "status": one.status,
        "statusText": _phrase(one.status),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(one.headers),
        "content": {**content, **({"encoding": encoding} if encoding else {})},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": len(one.body),
    }


def _content(data: bytes) -> tuple[str, str]:
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), "base64"


def _note(encoding: str) -> dict[str, Json]:
    return {"comment": encoding} if encoding else {}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _pairs(headers: Mapping[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in headers.items()]

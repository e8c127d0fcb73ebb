"""Exchanges in words: one line each, or one in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from evalgate.core.continuation import continuation_of
from evalgate.core.exchange import Exchange
from evalgate.core.json import Json, JsonObject
from evalgate.core.request import Member, Piece, StoredRequest
from evalgate.errors import UsageError
from evalgate.gateway.dialects.dialect import Reply
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.reading import mapping
from evalgate.gateway.witness.witness import read_reply

_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one line says of an exchange; ``new`` counts bytes that no earlier request had."""

    number: int
    exchange: Exchange
    reply: Reply
    messages: int
    new: int

    def to_json(self) -> dict[str, Json]:
        """Return the line for a program."""
        one, reply = self.exchange, self.reply
        return {
            "exchange": self.number,
            "dialect": one.dialect,
            "method": one.method,
            "path": one.path,
            "status": one.status,
            "ending": str(one.ending),
            "messages": self.messages,
            "request_bytes": len(one.request.data),
            "new_bytes": self.new,
            "reply_bytes": len(one.body),
            "seconds": one.seconds,
            "reply": reply_json(reply),
        }

    def row(self) -> tuple[str, ...]:
        """Return the cells for a person."""
        one = self.exchange
        ending = "" if one.ending == "complete" else f" {one.ending}"
        return (
            str(self.number),
            one.dialect,
            f"{one.method} {one.path}",
            f"{one.status}{ending}",
            str(self.messages),
            str(self.new),
            f"{one.seconds:.2f}",
            reply_text(self.reply),
        )


#: What stands above the cells of a line.
HEADINGS: Final = ("#", "dialect", "request", "status", "messages", "new bytes", "s", "reply")


def lines_of(exchanges: Sequence[Exchange]) -> list[Line]:
    """Return a line for each exchange."""
    seen: set[bytes] = set()
    found = []
    for number, one in enumerate(exchanges):
        new = 0 if one.request.raw is None else len(one.request.raw)
        for member in one.request.members.values():
            for piece in (member,) if isinstance(member, Piece) else member:
                new += 0 if piece.digest in seen else len(piece.data)
                seen.add(piece.digest)
        messages = _messages(one.dialect, one.request)
        reply = read_reply(one)
        line = Line(number=number, exchange=one, reply=reply, messages=messages, new=new)
        found.append(line)
    return found


def reply_json(reply: Reply) -> dict[str, Json]:
    """Return what a model said, for a program; what is unknown is null."""
    usage = reply.usage
    return {
        "text": reply.text,
        "calls": [{"name": c.name, "id": c.call_id, "input": c.input} for c in reply.calls],
        "stop_reason": reply.stop_reason,
        "model": reply.model,
        "finished": reply.finished,
        "error": reply.error,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
    }


def reply_text(reply: Reply) -> str:
    """Return what a model said in one line: how it begins, what it asks for, what it used."""
    if reply.error is not None:
        return f"error: {_short(reply.error)}"
    tokens = (reply.usage.input_tokens, reply.usage.output_tokens)
    used = "→".join("?" if count is None else str(count) for count in tokens)
    said = [
        f'"{_short(reply.text)}"' if reply.text else "",
        "calls " + ", ".join(call.name for call in reply.calls) if reply.calls else "",
        f"({reply.stop_reason})" if reply.stop_reason else "",
        "" if tokens == (None, None) else f"{used} tokens",
    ]
    return " ".join(filter(None, said)) or "nothing"


def one_exchange(exchanges: Sequence[Exchange], number: int) -> tuple[str, JsonObject]:
    """Return one exchange in full: what its request adds to an earlier one, and the reply."""
    if not 0 <= number < len(exchanges):
        message = f"there is no exchange {number}"
        last = len(exchanges) - 1
        hint = f"they are numbered from 0 to {last}" if exchanges else "none was recorded"
        raise UsageError(message, hint=hint)
    line = lines_of(exchanges)[number]
    value = _whole(line, exchanges)
    return "\n".join(_told(line, value)), value


def every_exchange(exchanges: Sequence[Exchange]) -> list[JsonObject]:
    """Return all of them in full, for a program."""
    return [_whole(line, exchanges) for line in lines_of(exchanges)]


def _whole(line: Line, exchanges: Sequence[Exchange]) -> JsonObject:
    one = line.exchange
    told = continuation_of(one.request, [other.request for other in exchanges[: line.number]])
    return {
        **line.to_json(),
        "query": one.query,
        "headers": dict(one.asked),
        "continues": told.base,
        "without": [*told.without],
        "kept": dict(told.kept),
        "added": {name: _value(member) for name, member in told.added.items()},
        "raw": None if one.request.raw is None else _text(one.request.raw),
        "reply_headers": dict(one.headers),
        "body": _text(one.body),
    }


def _value(member: Member) -> Json:
    if isinstance(member, Piece):
        value: Json = orjson.loads(member.data)
        return value
    return [orjson.loads(piece.data) for piece in member]


def _told(line: Line, value: JsonObject) -> list[str]:
    one, reply = line.exchange, line.reply
    lines = [
        f"exchange {line.number}: {one.dialect} {one.method} {one.path}"
        + (f"?{one.query}" if one.query else ""),
        *(f"  {name}: {text}" for name, text in one.asked.items()),
    ]
    base = value["continues"]
    if base is not None:
        lines.append(f"goes on from exchange {base}")
    lines += [f"  without {name}" for name in _names(value["without"])]
    for name, added in mapping(value, "added").items():
        kept = mapping(value, "kept").get(name)
        lines.append(f"{name}:" if kept is None else f"{name}: {kept} as before, then")
        lines += [f"  {row}" for row in _pretty(added)]
    if value["raw"] is not None:
        lines += ["body, as it came:", *(f"  {row}" for row in str(value["raw"]).splitlines())]
    lines += ["", f"reply: {one.status}, {one.ending}, {one.seconds:.2f} s, {len(one.body)} bytes"]
    if reply.text:
        lines += [f"  {row}" for row in reply.text.splitlines()]
    for call in reply.calls:
        lines += [f"  calls {call.name} ({call.call_id})"]
        lines += [f"    {row}" for row in _pretty(call.input)]
    if reply.error is not None:
        lines.append(f"  error: {reply.error}")
    if not (reply.text or reply.calls or reply.error):
        lines += [f"  {row}" for row in _text(one.body).splitlines()]
    lines.append(f"  {reply_text(reply)}")
    return lines


def _names(value: Json) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _pretty(value: Json) -> list[str]:
    """Return JSON as people read it: line ends in strings are line ends."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return text.replace("\\n", "\n").splitlines()


def _messages(dialect: str, request: StoredRequest) -> int:
    known = DIALECTS.get(dialect)
    member = request.members.get(known.conversation) if known else None
    return len(member) if isinstance(member, tuple) else 0


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")

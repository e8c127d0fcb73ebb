"""What the exchanges of a trial say: tool calls, turns, tokens, the answer, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from evalgate.core.exchange import Ending, Exchange, Miss, Witness
from evalgate.core.trajectory import NO_USAGE, ToolCall, Trajectory, Usage
from evalgate.gateway.dialects.dialect import Dialect, Reply, ToolResult
from evalgate.gateway.dialects.table import DIALECTS

#: The header that tells an answer of the gateway's own from one of the provider.
REFUSAL: Final = "x-evalgate-refusal"

_FIRST_ERROR = 400
_FIRST_SERVER_ERROR = 500

#: With these a provider refuses whoever asks, whatever was asked: a key, an account, an address
#: or a model that is not there, a conflict, too many requests. Any other 4xx speaks of the
#: request itself, and that is the agent's.
_NOT_THE_REQUEST = frozenset({401, 402, 403, 404, 408, 409, 429})

#: One provider says with 400 that an account is empty.
_UNPAID = "credit balance is too low"

#: No answer for so many times the longest wait for one is a provider that hangs; less may be an
#: agent that was stopped in the middle of a turn.
_HANGING = 2


class Refusal(StrEnum):
    """Why the gateway answered itself."""

    LIMIT = "limit"
    MODEL = "model"
    UNREACHABLE = "unreachable"
    INTERNAL = "internal"


@dataclass(slots=True)
class _Open:
    """A tool call, its place in the trajectory, and when the model had asked for it."""

    position: int
    asked: float


def witness_of(
    exchanges: Sequence[Exchange], *, misses: Sequence[Miss] = (), unused: int = 0
) -> Witness:
    """Read a trial from its exchanges alone, so a cassette tells the same as the live wire."""
    turns = [one for one in exchanges if _dialect(one).is_turn(one.path)]
    replies = [(one, read_reply(one)) for one in turns]
    good = [reply for one, reply in replies if succeeded(one, reply)]
    calls = _calls(replies)
    return Witness(
        exchanges=tuple(exchanges),
        trajectory=Trajectory(
            calls=calls,
            turns=len(good),
            final_answer=(good[-1].text or None) if good else None,
        ),
        usage=sum((_usage(one, reply) for one, reply in replies), NO_USAGE),
        misses=tuple(misses),
        unused=unused,
        served_models=_models(reply.model for reply in good),
        provider_error=_provider_error(replies),
        limit=_limit(replies),
    )


def read_reply(exchange: Exchange) -> Reply:
    """Read the response of an exchange."""
    return _dialect(exchange).read_reply(exchange.body)


def succeeded(exchange: Exchange, reply: Reply) -> bool:
    """Tell whether the model's reply came whole and without an error."""
    whole = exchange.ending is Ending.COMPLETE and reply.finished
    return whole and exchange.status < _FIRST_ERROR and reply.error is None


def _dialect(exchange: Exchange) -> Dialect:
    return DIALECTS[exchange.dialect]


def _calls(replies: Sequence[tuple[Exchange, Reply]]) -> tuple[ToolCall, ...]:
    """Give each call the output that a later request carries.

    Some providers use an id again in a later turn, so the last output of that id is taken, and
    of several open calls of one id the last outputs in order.
    """
    calls: list[ToolCall] = []
    waiting: dict[str, list[_Open]] = {}
    for exchange, reply in replies:
        if waiting:
            results = _dialect(exchange).read_request(exchange.request).results
            _close(calls, waiting, results, exchange.began)
        if not succeeded(exchange, reply):
            continue
        for call in reply.calls:
            opened = _Open(position=len(calls), asked=exchange.began + exchange.seconds)
            waiting.setdefault(call.call_id, []).append(opened)
            calls.append(call)
    return tuple(calls)


def _close(
    calls: list[ToolCall],
    waiting: dict[str, list[_Open]],
    results: Sequence[ToolResult],
    now: float,
) -> None:
    by_id: dict[str, list[ToolResult]] = {}
    for result in results:
        by_id.setdefault(result.call_id, []).append(result)
    for call_id in [call_id for call_id in waiting if call_id in by_id]:
        opened = waiting.pop(call_id)
        found = by_id[call_id][-len(opened) :]
        for one, result in zip(opened, found, strict=False):
            calls[one.position] = replace(
                calls[one.position],
                output=result.output,
                ok=result.ok,
                seconds=round(max(0.0, now - one.asked), 3),
            )


def _usage(exchange: Exchange, reply: Reply) -> Usage:
    """Count nothing for an error; what a reply that broke off costs, nobody can say."""
    if exchange.status >= _FIRST_ERROR:
        return NO_USAGE
    return reply.usage


def _models(models: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(model for model in models if model))


def _provider_error(replies: Sequence[tuple[Exchange, Reply]]) -> str | None:
    """Say what kept the last request from its answer, when it was not the agent."""
    hanging = _hanging([exchange for exchange, _ in replies])
    if hanging is not None or not replies:
        return hanging
    exchange, reply = replies[-1]
    refusal = exchange.headers.get(REFUSAL)
    if refusal == Refusal.LIMIT or exchange.ending is Ending.CLIENT_GONE:
        return None
    if refusal is not None:
        return reply.error
    if exchange.status >= _FIRST_ERROR:
        return _refused(exchange.status, reply.error or "no message in the dialect's shape")
    if exchange.ending is Ending.UPSTREAM_CUT or not (reply.finished or reply.error):
        return "the provider's reply broke off"
    return f"the provider sent an error in its reply: {reply.error}" if reply.error else None


def _hanging(exchanges: Sequence[Exchange]) -> str | None:
    """Say how long an agent waited at its end for an answer of which nothing came."""
    answered = [one for one in exchanges if one.status]
    last = max((_end(one) for one in answered), default=0.0)
    waiting = [one for one in exchanges if not one.status and _end(one) > last]
    if not waiting:
        return None
    since = max(last, min(one.began for one in waiting))
    waited = max(map(_end, waiting)) - since
    if waited <= _HANGING * max((one.seconds for one in answered), default=0.0):
        return None
    return f"the provider had not answered after {waited:.1f} s"


def _end(exchange: Exchange) -> float:
    return exchange.began + exchange.seconds


def _refused(status: int, said: str) -> str | None:
    its_own = status >= _FIRST_SERVER_ERROR or status in _NOT_THE_REQUEST or _UNPAID in said
    return f"the provider answered with HTTP {status}: {said}" if its_own else None


def _limit(replies: Sequence[tuple[Exchange, Reply]]) -> str | None:
    for exchange, reply in replies:
        if exchange.headers.get(REFUSAL) == Refusal.LIMIT:
            return reply.error
    return None

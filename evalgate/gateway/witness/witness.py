"""What the exchanges of a trial say: tool calls, turns, tokens, the answer, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from evalgate.core.exchange import Ending, Exchange, Miss, Witness, is_error
from evalgate.core.trajectory import NO_USAGE, Usage
from evalgate.gateway.dialects.dialect import Asked, Dialect, Reply
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.witness.trajectory import Turn, trajectory_of

#: The header that tells an answer of the gateway's own from one of the provider.
REFUSAL: Final = "x-evalgate-refusal"

#: The id of a model that answered and did not say which it is: no model with a name equals it.
UNNAMED: Final = "unnamed"

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
    UNCOUNTED = "uncounted"
    BUDGET = "budget"


def witness_of(
    exchanges: Sequence[Exchange], *, misses: Sequence[Miss] = (), unused: int = 0
) -> Witness:
    """Read a trial from its exchanges alone, so a cassette tells the same as the live wire."""
    turns = [one for one in exchanges if _dialect(one).is_turn(one.path)]
    replies = [(one, read_reply(one)) for one in turns]
    good = [reply for one, reply in replies if succeeded(one, reply)]
    return Witness(
        exchanges=tuple(exchanges),
        trajectory=trajectory_of(
            Turn(
                exchange=one,
                dialect=_dialect(one),
                asked=_asked(one),
                reply=reply,
                good=succeeded(one, reply),
            )
            for one, reply in replies
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
    return whole and not is_error(exchange.status) and reply.error is None


def answered(exchange: Exchange, reply: Reply | None = None) -> bool:
    """Tell whether an exchange got a good answer, whole: a turn of the model, or any other.

    ``reply`` is what it answered, when that was read already.
    """
    if _dialect(exchange).is_turn(exchange.path):
        return succeeded(exchange, reply or read_reply(exchange))
    return exchange.ending is Ending.COMPLETE and not is_error(exchange.status)


def _asked(exchange: Exchange) -> Asked:
    return _dialect(exchange).read_request(exchange.request.data)


def _dialect(exchange: Exchange) -> Dialect:
    return DIALECTS[exchange.dialect]


def _usage(exchange: Exchange, reply: Reply) -> Usage:
    """Count nothing for an error; what a reply that broke off costs, nobody can say."""
    if is_error(exchange.status):
        return NO_USAGE
    return reply.usage


def _models(models: Iterable[str | None]) -> tuple[str, ...]:
    """Return the ids that replies name; where there are replies and none does, that it is so."""
    named = [*models]
    return tuple(dict.fromkeys(model for model in named if model)) or (UNNAMED,) * bool(named)


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
    if is_error(exchange.status):
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

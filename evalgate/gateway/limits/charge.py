"""What an exchange costs: how its request counts, what it used, at which price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalgate.core.exchange import Exchange, is_error
from evalgate.core.limits import Allowance, Tally, tokens_of
from evalgate.core.pricing import FREE, Price, cost_usd
from evalgate.core.trajectory import NO_USAGE, Usage, add_known
from evalgate.errors import UsageError
from evalgate.gateway.dialects.dialect import Dialect, Reply
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.witness.witness import read_reply, succeeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """How a request is counted: a ``turn`` of the model, and whether it is ``paid`` for at all.

    What is no turn and may be paid for, an endpoint we know nothing of, counts by what its reply
    says; when it says nothing, nobody knows.
    """

    turn: bool = False
    paid: bool = False
    model: str | None = None


def bill_of(dialect: Dialect, method: str, path: str, model: str | None) -> Bill:
    """Return how a request is counted; lists of models and counts of tokens are free."""
    return Bill(turn=dialect.is_turn(path), paid=dialect.is_paid(method, path), model=model)


def require_known_prices(
    models: Iterable[str], prices: Mapping[str, Price | None], *allowances: Allowance
) -> None:
    """Raise UsageError when money is limited and the price of a model is not known."""
    limits = [allowed.usd for allowed in allowances if allowed.usd is not None]
    unknown = [model for model in models if prices.get(model) is None]
    if limits and unknown:
        raise unknown_price(f"model {unknown[0]}", f"a limit of ${limits[0]:g}")


def unknown_price(model: str, limit: str) -> UsageError:
    """Return the error that a limit of money can not hold, since nobody knows a model's price."""
    message = f"{model}: its price is unknown, so {limit} can not hold"
    hint = "add price to its table of models: input and output in $ a million tokens"
    return UsageError(message, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What an exchange used, and at which price; None is unknown."""

    usage: Usage
    price: Price | None

    @property
    def usd(self) -> float | None:
        """The cost in US dollars."""
        return cost_usd(self.usage, self.price)


def charge_of(
    exchange: Exchange, reply: Reply, bill: Bill, prices: Mapping[str, Price | None]
) -> Charge:
    """Return what is charged for an exchange, a turn or not: here alone it is decided.

    An error costs nothing, nor does what is never paid for. What a reply that broke off used,
    nobody can say. A request that names no model has the price that all models have.
    """
    if not bill.paid or is_error(exchange.status):
        return Charge(usage=NO_USAGE, price=FREE)
    every = set(prices.values())
    only = every.pop() if len(every) == 1 else None
    return Charge(usage=reply.usage, price=prices.get(bill.model) if bill.model else only)


def tally_of(
    exchange: Exchange, reply: Reply, bill: Bill, prices: Mapping[str, Price | None]
) -> Tally:
    """Return how an exchange counts against a limit."""
    charge = charge_of(exchange, reply, bill, prices)
    good = bill.turn and succeeded(exchange, reply)
    return Tally(
        turns=int(good),
        tool_calls=len(reply.calls) if good else 0,
        tokens=tokens_of(charge.usage),
        usd=charge.usd,
    )


def spent_on(exchanges: Iterable[Exchange], prices: Mapping[str, Price | None]) -> Tally:
    """Return how exchanges count together, as they did when they were made."""
    tallies = (tally_of(one, read_reply(one), _bill(one), prices) for one in exchanges)
    return sum(tallies, Tally())


def cost_of(exchanges: Iterable[Exchange], prices: Mapping[str, Price | None]) -> float | None:
    """Return what a trial cost in US dollars; None when that of one exchange is unknown."""
    used: dict[Price | None, Usage] = {}
    for exchange in exchanges:
        charge = charge_of(exchange, read_reply(exchange), _bill(exchange), prices)
        used[charge.price] = used.get(charge.price, NO_USAGE) + charge.usage
    total: float | None = 0.0
    for price, usage in used.items():
        total = add_known(total, cost_usd(usage, price))
    return total


def _bill(exchange: Exchange) -> Bill:
    dialect = DIALECTS[exchange.dialect]
    model = dialect.model_of(exchange.path, exchange.request.only("model"))
    return bill_of(dialect, exchange.method, exchange.path, model)

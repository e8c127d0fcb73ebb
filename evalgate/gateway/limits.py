"""Limits at the wire: what a trial and its whole run have used, and what is refused beyond."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from evalgate.core.exchange import Exchange
from evalgate.core.limits import Allowance, Stop, Tally, stop_at, tokens_of
from evalgate.core.pricing import FREE, Price, cost_usd
from evalgate.core.trajectory import NO_USAGE, Usage, add_known
from evalgate.errors import UsageError
from evalgate.gateway.dialects.dialect import Dialect, Reply
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.witness.witness import Refusal, read_reply, succeeded

_FREE = Tally()


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
    hint = "add price to its [models] table: input and output in $ a million tokens"
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
    if not bill.paid or exchange.status >= HTTPStatus.BAD_REQUEST:
        return Charge(usage=NO_USAGE, price=FREE)
    every = set(prices.values())
    only = every.pop() if len(every) == 1 else None
    return Charge(usage=reply.usage, price=prices.get(bill.model) if bill.model else only)


def cost_of(exchanges: Iterable[Exchange], prices: Mapping[str, Price | None]) -> float | None:
    """Return what a trial cost in US dollars; None when that of one exchange is unknown."""
    used: dict[Price | None, Usage] = {}
    for exchange in exchanges:
        dialect = DIALECTS[exchange.dialect]
        model = dialect.model_of(exchange.path, exchange.request.only("model"))
        bill = bill_of(dialect, exchange.method, exchange.path, model)
        charge = charge_of(exchange, read_reply(exchange), bill, prices)
        used[charge.price] = used.get(charge.price, NO_USAGE) + charge.usage
    total: float | None = 0.0
    for price, usage in used.items():
        total = add_known(total, cost_usd(usage, price))
    return total


class TopUp:
    """How many requests a run may send to the model because they were not recorded."""

    def __init__(self, most: int) -> None:
        """Allow ``most``, over all routes of a run."""
        self.most = most
        self.used = 0
        self._lock = threading.Lock()

    def used_before(self, count: int) -> None:
        """Say how many an earlier call of the same run has used."""
        with self._lock:
            self.used += count

    def take(self) -> bool:
        """Use one up; False when there is none left."""
        with self._lock:
            left = self.used < self.most
            self.used += left
            return left


class Account:
    """What one trial has used, as its run sees it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.used = _FREE
        self.known = _FREE
        self.kept = False

    def report(self, used: Tally, *, known: Tally) -> None:
        """Take what was used up to now, and what is known of it."""
        self.used = used
        self.known = known

    def keep(self) -> None:
        """Say that the trial is on disk; what it used is found there from now on."""
        self.kept = True


class Spending:
    """What all trials of a run have used; routes report into it from the gateway's thread.

    ``before`` is what finished trials used, ``lost`` what was used by trials that were cut off
    and left nothing else behind.
    """

    def __init__(
        self, allowed: Allowance | None = None, *, before: Tally = _FREE, lost: Tally = _FREE
    ) -> None:
        """Begin with what earlier calls of the same run have used."""
        self.allowed = allowed or Allowance()
        self._before = before
        self._lost = lost
        self._accounts: list[Account] = []
        self._lock = threading.Lock()

    def open(self) -> Account:
        """Return the account of one more trial."""
        account = Account()
        with self._lock:
            self._accounts.append(account)
        return account

    @property
    def used(self) -> Tally:
        """Everything that was used."""
        with self._lock:
            accounts = tuple(self._accounts)
        return sum((one.used for one in accounts), self._before + self._lost)

    @property
    def lost(self) -> Tally:
        """What is known to have been used by trials that are not kept.

        What a request cost that was cut off with its trial, nobody can say: it is left out, or
        no interrupted run could go on under its budget.
        """
        with self._lock:
            accounts = tuple(self._accounts)
        return sum((one.known for one in accounts if not one.kept), self._lost)

    def stop(self) -> Stop | None:
        """Say why nothing more may be asked, or None."""
        return None if self.allowed.unlimited else stop_at(self.used, self.allowed)


class Meter:
    """Counts what one trial uses, and refuses what is beyond its limits or those of its run.

    A request under way is never cut: what a reply takes is known when it has come, so requests
    in parallel may together pass a limit of tokens or money. Turns on their way are counted.
    """

    def __init__(
        self,
        allowed: Allowance,
        *,
        prices: Mapping[str, Price | None],
        spending: Spending | None = None,
    ) -> None:
        """Count for one trial; ``prices`` is model id -> price, None when it is unknown."""
        self._allowed = allowed
        self._prices = prices
        self._spending = spending
        self._account = spending.open() if spending else Account()
        self._counted: dict[int, Tally] = {}
        self._under_way: set[int] = set()
        self._paid_before: set[int] = set()
        self.over_budget = False

    @property
    def used(self) -> Tally:
        """What the trial has used."""
        return sum(self._counted.values(), _FREE)

    def admit(self, slot: int, *, turn: bool) -> tuple[Refusal, str] | None:
        """Let a request through, or say why not; a turn on its way counts until `release`."""
        under_way = len(self._under_way) if turn else 0
        stop = stop_at(self.used, self._allowed, turns_under_way=under_way)
        if stop is not None:
            refusal = Refusal.UNCOUNTED if stop.unknown else Refusal.LIMIT
            return refusal, f"evalgate: {stop.message}"
        stop = self._spending.stop() if self._spending else None
        if stop is not None:
            self.over_budget = True
            return Refusal.BUDGET, f"evalgate: budget of the run: {stop.message}"
        if turn:
            self._under_way.add(slot)
        return None

    def paid_before(self, slot: int) -> None:
        """Say that what comes was paid for before; it counts for the trial, not for the run."""
        self._paid_before.add(slot)

    def release(self, slot: int) -> None:
        """Give a turn back: from now on it counts only when it succeeded."""
        self._under_way.discard(slot)

    def count(self, slot: int, exchange: Exchange, reply: Reply, *, bill: Bill) -> None:
        """Count an exchange in place of what was counted for it before."""
        charge = charge_of(exchange, reply, bill, self._prices)
        good = bill.turn and succeeded(exchange, reply)
        self._counted[slot] = Tally(
            turns=int(good),
            tool_calls=len(reply.calls) if good else 0,
            tokens=tokens_of(charge.usage),
            usd=charge.usd,
        )
        counted = self._counted.items()
        fresh = [tally for at, tally in counted if at not in self._paid_before]
        known = sum((tally.known for tally in fresh), _FREE)
        self._account.report(sum(fresh, _FREE), known=known)

    def keep(self) -> None:
        """Say that the trial is on disk."""
        self._account.keep()

"""What one trial uses: counted, and refused beyond its limits and those of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.core.exchange import Exchange
from evalgate.core.limits import Allowance, Tally, stop_at
from evalgate.core.pricing import Price
from evalgate.gateway.dialects.dialect import Reply
from evalgate.gateway.limits.charge import Bill, tally_of
from evalgate.gateway.limits.spending import Account, Spending
from evalgate.gateway.witness.witness import Refusal, answered

_FREE: Final = Tally()


class Meter:
    """Counts what one trial uses, and refuses what is beyond its limits or those of its run.

    A request under way is never cut: what a reply takes is known when it has come, so requests
    in parallel may together pass the trial's limit of tokens or money. Turns on their way are
    counted; how the budget of the run is held `Spending` says.
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
        self._held: set[int] = set()
        self.over_budget = False

    @property
    def used(self) -> Tally:
        """What the trial has used."""
        return sum(self._counted.values(), _FREE)

    def admit(self, slot: int, *, turn: bool) -> tuple[Refusal, str] | None:
        """Let a request through, or say why not; what is on its way counts until `release`."""
        under_way = Tally(turns=len(self._under_way) if turn else 0)
        stop = stop_at(self.used, self._allowed, under_way=under_way)
        if stop is not None:
            refusal = Refusal.UNCOUNTED if stop.unknown else Refusal.LIMIT
            return refusal, f"evalgate: {stop.message}"
        spending = self._spending
        stop = spending.admit(self._account, slot, turn=turn) if spending else None
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
        """Give back what was counted for a request under way: from now on its reply counts."""
        self._under_way.discard(slot)
        self._account.release(slot)

    def count(
        self, slot: int, exchange: Exchange, reply: Reply, *, bill: Bill, written: bool = False
    ) -> None:
        """Count an exchange in place of what was counted for it before.

        ``written`` tells that a journal keeps it: a good answer is found there, and played, when
        the trial is made again.
        """
        self._counted[slot] = tally_of(exchange, reply, bill, self._prices)
        (self._held.add if written and answered(exchange, reply) else self._held.discard)(slot)
        fresh = {at: one for at, one in self._counted.items() if at not in self._paid_before}
        alone = (one.known for at, one in fresh.items() if at not in self._held)
        known = [one.known for one in fresh.values()]
        largest = Tally(
            tool_calls=max((one.tool_calls for one in known), default=0),
            tokens=max((one.tokens or 0 for one in known), default=0),
            usd=max((one.usd or 0.0 for one in known), default=0.0),
        )
        self._account.report(sum(fresh.values(), _FREE), alone=sum(alone, _FREE), largest=largest)

    def settle(self) -> None:
        """Say that the trial is on disk."""
        self._account.settle()

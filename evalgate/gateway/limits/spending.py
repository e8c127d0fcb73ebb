"""What all trials of a run have used together, and whether its budget allows any more."""

from __future__ import annotations

import threading
from typing import Final

from evalgate.core.limits import Allowance, Stop, Tally, stop_at

_FREE: Final = Tally()


class Account:
    """What one trial has used, as its run sees it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.used = _FREE
        self.alone = _FREE
        self.largest = _FREE
        self.under_way: dict[int, bool] = {}
        self.on_disk = False

    def report(self, used: Tally, *, alone: Tally, largest: Tally = _FREE) -> None:
        """Take what was used, what of it stands in no journal, and the most of one exchange."""
        self.used = used
        self.alone = alone
        self.largest = largest

    def release(self, slot: int) -> None:
        """Say that a request is answered: only what was reported counts from now on."""
        self.under_way.pop(slot, None)

    def settle(self) -> None:
        """Say that the trial is on disk; what it used is found there from now on."""
        self.on_disk = True


class Spending:
    """What all trials of a run have used; routes report into it from the gateway's thread.

    A request under way is counted as a turn, if it is one, and as the largest charge that the
    run has seen: of turns no more go out than are allowed, and how far a limit of tokens, money
    or tool calls can be passed is bounded.

    ``before`` is what finished trials used, and what journals hold of others; ``lost`` is what
    was used besides, by trials that were cut off.
    """

    def __init__(
        self, allowed: Allowance | None = None, *, before: Tally = _FREE, lost: Tally = _FREE
    ) -> None:
        """Begin with what earlier calls of the same run have used."""
        self.allowed = allowed or Allowance()
        self._before = before
        self._lost = lost
        self._dropped = _FREE
        self._accounts: list[Account] = []
        self._lock = threading.Lock()
        #: Why a request was not let through, if one was not; what was under way may have failed.
        self.refused: Stop | None = None

    def open(self) -> Account:
        """Return the account of one more trial."""
        account = Account()
        with self._lock:
            self._accounts.append(account)
        return account

    def drop(self, used: Tally) -> None:
        """Say that a part of ``before`` stands in no journal any more, and in no trial."""
        with self._lock:
            self._dropped += used.known

    @property
    def used(self) -> Tally:
        """Everything that was used."""
        with self._lock:
            return self._sum()

    @property
    def lost(self) -> Tally:
        """What is known to have been used, and stands neither in a trial nor in a journal.

        What a request cost that was cut off with its trial, nobody can say: it is left out, or
        no interrupted run could go on under its budget.
        """
        with self._lock:
            accounts, before = tuple(self._accounts), self._lost + self._dropped
        return sum((one.alone for one in accounts if not one.on_disk), before)

    def stop(self) -> Stop | None:
        """Say why nothing more may be asked, whatever becomes of what is under way, or None."""
        return None if self.allowed.unlimited else stop_at(self.used, self.allowed)

    def admit(self, account: Account, slot: int, *, turn: bool) -> Stop | None:
        """Let one more request of a trial through, or say why not; it is under way until released.

        One step for all threads: what one request may take is not there for another one.
        """
        if self.allowed.unlimited:
            return None
        with self._lock:
            stop = stop_at(self._sum(), self.allowed, under_way=self._under_way())
            if stop is None:
                account.under_way[slot] = turn
            self.refused = self.refused or stop
        return stop

    def _sum(self) -> Tally:
        return sum((one.used for one in self._accounts), self._before + self._lost)

    def _under_way(self) -> Tally:
        asked = [turn for one in self._accounts for turn in tuple(one.under_way.values())]
        seen = [one.largest for one in self._accounts]
        turns, count = sum(asked), len(asked)
        return Tally(
            turns=turns,
            tool_calls=turns * max((one.tool_calls for one in seen), default=0),
            tokens=count * max((one.tokens or 0 for one in seen), default=0),
            usd=count * max((one.usd or 0.0 for one in seen), default=0.0),
        )

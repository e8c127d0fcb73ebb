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
        self.kept = False

    def report(self, used: Tally, *, alone: Tally) -> None:
        """Take what was used up to now, and what is known of it and stands in no journal."""
        self.used = used
        self.alone = alone

    def keep(self) -> None:
        """Say that the trial is on disk; what it used is found there from now on."""
        self.kept = True


class Spending:
    """What all trials of a run have used; routes report into it from the gateway's thread.

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
            accounts = tuple(self._accounts)
        return sum((one.used for one in accounts), self._before + self._lost)

    @property
    def lost(self) -> Tally:
        """What is known to have been used, and stands neither in a trial nor in a journal.

        What a request cost that was cut off with its trial, nobody can say: it is left out, or
        no interrupted run could go on under its budget.
        """
        with self._lock:
            accounts, before = tuple(self._accounts), self._lost + self._dropped
        return sum((one.alone for one in accounts if not one.kept), before)

    def stop(self) -> Stop | None:
        """Say why nothing more may be asked, or None."""
        return None if self.allowed.unlimited else stop_at(self.used, self.allowed)

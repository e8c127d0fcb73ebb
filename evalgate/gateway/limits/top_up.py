"""The bound of a top-up: what may be asked of the model because it was not recorded."""

from __future__ import annotations

import threading


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

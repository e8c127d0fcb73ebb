"""What GitHub says that has happened: the event of a workflow, read key by key."""

from __future__ import annotations

import json
from dataclasses import dataclass

from evalgate.errors import UsageError


@dataclass(frozen=True, slots=True)
class Event:
    """The payload of an event; any part of it may be missing."""

    payload: object

    @classmethod
    def parse(cls, data: bytes) -> Event:
        """Read the file that ``GITHUB_EVENT_PATH`` names; ValueError for what is no JSON."""
        return cls(json.loads(data))

    def at(self, *keys: str) -> object:
        """Return what stands under these keys, None where nothing does."""
        value = self.payload
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text(self, *keys: str) -> str:
        """Return a text that the event must have; UsageError names the missing one."""
        value = self.at(*keys)
        if isinstance(value, str) and value:
            return value
        message = f"the GitHub event has no {'.'.join(keys)}"
        raise UsageError(message, hint="or name the commits: --base and --head")

    def number(self, *keys: str) -> int | None:
        """Return a whole number above zero, None for anything else."""
        value = self.at(*keys)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if value > 0 else None

    def from_fork(self, *keys: str) -> bool:
        """Tell whether a pull request comes from another repository, be that deleted since."""
        target = self.at(*keys, "base", "repo", "full_name")
        return target is not None and target != self.at(*keys, "head", "repo", "full_name")

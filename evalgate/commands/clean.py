"""`evalgate clean`: what killed runs left on this machine, shown and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.core.json import Json
from evalgate.sandboxes.leftovers import Leftover, find_leftovers


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What was found; ``stays`` says of what could not be removed, by its name, why."""

    found: tuple[Leftover, ...]
    stays: Mapping[str, str]
    dry_run: bool

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "dry_run": self.dry_run,
            "found": [{"kind": one.kind, "name": one.name} for one in self.found],
            "stays": dict(self.stays),
        }

    @property
    def text(self) -> str:
        """Say it, one thing a line."""
        if not self.found:
            return "nothing is left of runs that were killed, and no old image"
        return "\n".join(f"{one.kind} {one.name}: {self._end_of(one)}" for one in self.found)

    def _end_of(self, one: Leftover) -> str:
        if one.name in self.stays:
            return f"stays: {self.stays[one.name]}"
        return "would be removed" if self.dry_run else "removed"


def clean(*, dry_run: bool, images: bool = False) -> Cleaned:
    """Find what dead owners left behind and old images; unless this is a ``dry_run``, remove it.

    With ``images`` young ones go as well. What a living evalgate uses, on this machine or on
    another that shares an engine, stays.
    """
    found = tuple(find_leftovers(images=images))
    ends = {} if dry_run else {one.name: one.remove() for one in found}
    stays = {name: reason for name, reason in ends.items() if reason}
    return Cleaned(found=found, stays=stays, dry_run=dry_run)

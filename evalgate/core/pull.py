"""A pull request as GitHub tells of it: its number, and the branch that it is to go into."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """A pull request; ``base`` is empty where nobody told the branch."""

    number: int
    base: str = ""

    @property
    def measuring(self) -> tuple[str, ...]:
        """The commands by which a maintainer measures its head, in a clone with a key."""
        if not self.base:
            return ()
        base, head = shlex.quote(self.base), f"pull-{self.number}"
        return (
            f"git fetch origin {base} pull/{self.number}/head:{head}",
            f"evalgate gate --live --base {shlex.quote(f'origin/{self.base}')} --head {head}",
        )

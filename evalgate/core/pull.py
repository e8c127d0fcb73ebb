"""A pull request as GitHub tells of it: its number, and the branch that it is to go into."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

#: What the last command does, and what it needs.
_TELL: Final = "in this page's place; needs GITHUB_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """A pull request of a ``repository``; ``base`` is empty where nobody told the branch."""

    number: int
    base: str = ""
    repository: str = ""

    @property
    def measuring(self) -> tuple[str, ...]:
        """The commands by which a maintainer with a key measures its head, and tells it."""
        if not self.base:
            return ()
        base, head = shlex.quote(self.base), f"pull-{self.number}"
        where = f"GITHUB_REPOSITORY={shlex.quote(self.repository)} " if self.repository else ""
        return (
            f"git fetch origin {base} pull/{self.number}/head:{head}",
            f"evalgate gate --live --base {shlex.quote(f'origin/{self.base}')} --head {head}",
            f"{where}evalgate comment --pr {self.number}   # {_TELL}",
        )

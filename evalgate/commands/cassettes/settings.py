"""What is configured for cassettes, where one is named by its file and need not be of a project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evalgate.commands.project import WORKTREE, Project, State, open_state
from evalgate.core.cassettes import CassettesSpec
from evalgate.core.models import ModelSpec
from evalgate.errors import NotAvailableError, UsageError

#: Opens the project; UsageError when there is none.
Find = Callable[[], Project]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The scrub rules and the models; ``lacking`` is why nothing could be read, if it could not.

    Then the rules are the usual ones, and there are no models.
    """

    cassettes: CassettesSpec = field(default_factory=CassettesSpec)
    models: Sequence[ModelSpec] = ()
    lacking: str = ""

    @classmethod
    def of(cls, state: State) -> Settings:
        """Return what a state says."""
        return cls(cassettes=state.config.cassettes, models=[*state.config.models.values()])

    @classmethod
    def here(cls, find: Find) -> Settings:
        """Return what the work tree says, if there is a project and it can be read."""
        try:
            with open_state(find(), WORKTREE) as state:
                return cls.of(state)
        except (UsageError, NotAvailableError) as error:
            return cls(lacking=error.message)

"""One request and its response on the wire, and what a whole trial's wire says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evalgate.core.trajectory import Trajectory, Usage


class Ending(StrEnum):
    """How the response to one request ended."""

    COMPLETE = "complete"
    CLIENT_GONE = "client_gone"
    UPSTREAM_CUT = "upstream_cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request an agent made to its model, and the response it got.

    ``request`` is the body in the form it is keyed by: canonical JSON (or the raw bytes of
    what is none), secrets and the run's own paths replaced; ``key`` the digest of it with
    method and path; ``headers`` only the allowed ones of the response; ``body`` its decoded
    bytes, secrets replaced. ``began`` is in seconds since the wire of
    the trial was opened, ``seconds`` the wall time from the request to the end of the response.
    """

    dialect: str
    method: str
    path: str
    request: bytes
    key: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    ending: Ending = Ending.COMPLETE
    began: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A request in a replay that matches no exchange that is left to play.

    ``nearest`` is the index of the recorded exchange that came nearest (None when there
    is none); ``differs`` holds JSON paths with both values, shortened and redacted;
    ``played`` tells that the request equals an exchange that was already played.
    """

    key: str
    nearest: int | None
    differs: tuple[str, ...]
    played: bool = False

    @property
    def sentence(self) -> str:
        """One line for a person."""
        if self.nearest is None:
            return "the request matches no recorded exchange: nothing was recorded"
        if self.played:
            return f"the request equals exchange {self.nearest}, which was already played"
        return f"nearest is exchange {self.nearest}, which differs in: {'; '.join(self.differs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Everything the wire saw in one trial.

    ``exchanges`` are in order of arrival; ``unused`` counts recorded exchanges a replay did
    not ask for; ``provider_error`` is a sentence when the provider, or the way to it, kept the
    last exchange from being a success; ``limit`` is one when the agent was refused a request
    because a limit was reached.
    """

    exchanges: tuple[Exchange, ...]
    trajectory: Trajectory
    usage: Usage
    misses: tuple[Miss, ...] = ()
    unused: int = 0
    served_models: tuple[str, ...] = ()
    provider_error: str | None = None
    limit: str | None = None

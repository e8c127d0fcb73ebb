"""One request and its response on the wire, and what a whole trial's wire says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from evalgate.core.request import StoredRequest
from evalgate.core.trajectory import Trajectory, Usage

#: From here on a status of HTTP is an error.
_FIRST_ERROR: Final = 400


def is_error(status: int) -> bool:
    """Tell whether a status of HTTP says that something went wrong."""
    return status >= _FIRST_ERROR


class Ending(StrEnum):
    """How the response to one request ended."""

    COMPLETE = "complete"
    CLIENT_GONE = "client_gone"
    UPSTREAM_CUT = "upstream_cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request an agent made to its model, and the response it got.

    ``request`` is the body in the form it is keyed by; ``query`` what counts of the query,
    ``asked`` the headers of the request that are kept; ``key`` the digest of these with method
    and path. ``status`` is 0 when the agent was gone before an answer had begun; ``headers`` are
    only the allowed ones of the response, ``body`` its decoded bytes, secrets replaced.
    ``began`` is in seconds since the wire of the trial was opened, so fine that no two trials have
    the same; ``seconds`` the wall time from the request to the end of the response; ``cuts`` are
    the pieces in which a stream came: bytes, and milliseconds since ``began``; none for what came
    at once.
    """

    dialect: str
    method: str
    path: str
    request: StoredRequest
    key: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    ending: Ending = Ending.COMPLETE
    began: float = 0.0
    seconds: float = 0.0
    query: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)
    cuts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A request in a replay that matches no exchange that is left to play.

    ``nearest`` is the index of the recorded exchange that came nearest (None when there
    is none); ``differs`` holds JSON paths with both values, shortened and redacted;
    ``played`` tells that the request equals an exchange that was already played.

    ``equal`` and ``differing`` name the parts of the request. ``path`` is the JSON path of the
    first leaf that differs, ``recorded`` and ``now`` its two values as text, ``words`` their
    word diff, ``tool`` the tool it belongs to, ``kind`` what it means in a few words. ``part``
    is the part of the harness that caused it, if one did, and ``cause`` a sentence on that.
    """

    key: str
    nearest: int | None
    differs: tuple[str, ...]
    played: bool = False
    equal: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    path: str = ""
    tool: str = ""
    words: str = ""
    kind: str = ""
    part: str = ""
    cause: str = ""
    recorded: str = field(default="", repr=False)
    now: str = field(default="", repr=False)

    @property
    def sentence(self) -> str:
        """One line for a person."""
        because = f" ({self.cause})" if self.cause else ""
        if self.nearest is None:
            return "the request matches no recorded exchange: nothing was recorded"
        if self.played:
            return f"the request equals exchange {self.nearest}, which was already played{because}"
        where = f"nearest is exchange {self.nearest}, which differs in: {'; '.join(self.differs)}"
        return where + because

    @property
    def explanation(self) -> str:
        """Several lines for a person: what is equal, what differs and where, and why."""
        if self.nearest is None or self.played:
            return self.sentence
        where = self.path + (f' (tool "{self.tool}")' if self.tool else "")
        lines = (
            ("equal", ", ".join(self.equal) or "nothing"),
            ("differing", ", ".join(self.differing)),
            ("first", where),
            ("words", self.words),
            *(("also", line) for line in self.differs[1:]),
            ("cause", self.cause or self.kind),
        )
        head = f"the request matches no recorded exchange; nearest is exchange {self.nearest}"
        return "\n".join((head, *(f"  {name:<9} {text}" for name, text in lines if text)))


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

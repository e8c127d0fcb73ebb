"""What a route is opened for: who answers, from what, and within which bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from evalgate.core.faults import Fault
from evalgate.core.limits import Allowance
from evalgate.core.pricing import Price
from evalgate.core.scrubs import Scrub
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.keys.cleaning import USUAL
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.limits.top_up import TopUp
from evalgate.gateway.upstream import Upstream

#: How long a request may take to arrive: minutes would be an agent that hangs.
UPLOAD_SECONDS: Final = 60.0


class Mode(StrEnum):
    """Whether a model answers, or a cassette.

    A stale cassette, of another harness, answers in its order, whatever is asked: this shows
    that the agent still runs, and measures nothing. In a top-up a cassette answers as far as it
    goes, and the model what is missing in it.
    """

    LIVE = "live"
    REPLAY = "replay"
    STALE = "stale"
    TOP_UP = "top-up"

    @property
    def asks_model(self) -> bool:
        """Tell whether a model may be asked, and a recording sealed."""
        return self in {Mode.LIVE, Mode.TOP_UP}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    """What a route serves.

    ``upstreams`` is model id -> where it is, empty in a replay; ``tape`` is what a replay plays;
    ``places`` is label -> absolute path, the run's own paths; of those in ``passing``, which are
    others in each trial, nothing is kept but the label. ``scrubs`` are the rules that keys are
    made by. ``allowed``, ``prices`` (model id -> price) and ``spending`` limit what is sent
    to a model; a replay meets the refusals that were recorded. ``faults`` go wrong on purpose.
    A request must come whole within ``upload_seconds``. ``top_up`` bounds what is asked beyond
    the tape in a top-up, None is without a bound. ``journal`` is where what is recorded is
    kept until it is sealed. ``pace`` is how fast the pieces of a recorded stream come: 1 as they
    did, 0 at once. ValueError when they do not fit the mode.
    """

    mode: Mode
    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    tape: CassetteFile | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    passing: frozenset[str] = frozenset()
    scrubs: tuple[Scrub, ...] = USUAL
    allowed: Allowance = field(default_factory=Allowance)
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    spending: Spending | None = None
    faults: tuple[Fault, ...] = ()
    upload_seconds: float = UPLOAD_SECONDS
    top_up: TopUp | None = None
    journal: Path | None = None
    pace: float = 0.0

    def __post_init__(self) -> None:
        """Hold what the rest of the gateway relies on."""
        if (self.mode is Mode.LIVE) != (self.tape is None):
            raise ValueError("only what is live has no tape")
        if self.upstreams and not self.mode.asks_model:
            raise ValueError("a replay has no upstream")

    @property
    def labels(self) -> dict[str, str]:
        """What is kept in place of what passes: text -> label."""
        return {self.places[name]: f"<{name}>" for name in sorted(self.passing)}

    @property
    def kept_places(self) -> dict[str, str]:
        """The places as a recording names them."""
        return {name: self.labels.get(place, place) for name, place in self.places.items()}

"""The table ``[tripwires]``: what agents must not look for, and what follows when one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evalgate.core.patterns import read_pattern, read_reason
from evalgate.core.schema import Reader
from evalgate.core.tripwires import CANARY, TRIPWIRES, Place, Tripwire

FLAG: Final = "flag"
VOID: Final = "void"

_PLACES: Final = {"calls": Place.CALLS, "log": Place.LOG, "files": Place.FILES}


@dataclass(frozen=True, slots=True, kw_only=True)
class TripwiresSpec:
    """What is looked for; with ``voids`` a hit voids a verdict, else it is shown."""

    voids: bool = False
    wires: tuple[Tripwire, ...] = TRIPWIRES


def read_tripwires(table: Reader) -> TripwiresSpec:
    """Read the table; UsageError naming file, line and key of what is wrong."""
    usual = {wire.name for wire in TRIPWIRES}
    without = table.texts("without", [])
    for name in without:
        if name not in usual:
            hint = f"known tripwires: {', '.join(sorted(usual))}"
            raise table.error(f"there is no tripwire {name!r}", "without", hint=hint)
    own: list[Tripwire] = []
    for inner in table.tables("own"):
        taken = usual | {CANARY} | {wire.name for wire in own}
        own.append(_own(inner, taken))
    spec = TripwiresSpec(
        voids=table.choice("policy", FLAG, (FLAG, VOID)) == VOID,
        wires=(*(wire for wire in TRIPWIRES if wire.name not in without), *own),
    )
    table.done()
    return spec


def _own(table: Reader, taken: set[str]) -> Tripwire:
    name = table.text("name")
    if not name.strip() or name in taken:
        raise table.error(f"there is a tripwire {name!r} already, or it has no name", "name")
    places = table.texts("in", ["calls"])
    for place in places:
        if place not in _PLACES:
            hint = f"one of: {', '.join(_PLACES)}"
            raise table.error(f"there is no place {place!r}", "in", hint=hint)
    wire = Tripwire(
        name=name,
        pattern=read_pattern(table),
        reason=read_reason(table),
        places=tuple(_PLACES[place] for place in places),
        written=table.where("pattern"),
    )
    table.done()
    return wire

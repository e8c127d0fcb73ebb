"""The table ``[cassettes]``: where recordings lie, and what is scrubbed before requests match."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.dialects import PASSTHROUGH, SPOKEN
from evalgate.core.patterns import read_pattern, read_reason
from evalgate.core.schema import Reader
from evalgate.core.scrubs import BESIDE, SCRUBS, Scrub, scrubs_digest, usual_scrubs

#: The folder that holds recordings when nobody says otherwise.
USUAL_PATH: Final = "cassettes"

_DIALECTS: Final = ("", *SPOKEN, PASSTHROUGH)
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CassettesSpec:
    """Where recordings lie (relative to the project, or absolute), and the scrub rules in order."""

    path: str = USUAL_PATH
    scrubs: tuple[Scrub, ...] = field(default_factory=usual_scrubs)

    @property
    def rules(self) -> str:
        """The version (12 hex) of the rules: equal rules give equal keys."""
        return scrubs_digest(self.scrubs)


def read_cassettes(table: Reader) -> CassettesSpec:
    """Read the table; UsageError naming file, line and key of what is wrong."""
    path = table.text("path", USUAL_PATH)
    if not path.strip("/. ") or "\0" in path:
        raise table.error(f"must name a folder, not {path!r}", "path")
    without, also = table.texts("without", []), table.texts("also", [])
    known = {rule.name for rule in SCRUBS}
    for key, names in (("without", without), ("also", also)):
        for name in names:
            if name not in known:
                raise table.error(f"there is no rule {name!r}", key, hint=_near(name, known))
    both = sorted({*without} & {*also})
    if both:
        raise table.error(f"{both[0]!r} is asked for and left out", "also")
    own: list[Scrub] = []
    for inner in table.tables("scrub"):
        own.append(_own(inner, known | BESIDE.keys() | {rule.name for rule in own}))
    table.done()
    return CassettesSpec(path=path, scrubs=usual_scrubs(without=without, also=also, own=own))


def _own(table: Reader, taken: Iterable[str]) -> Scrub:
    name = table.text("name")
    if not _NAME.fullmatch(name):
        problem = f"must be a short word of a-z, 0-9 and -, not {name!r}"
        raise table.error(problem, "name", hint='such as name = "build-number"')
    if name in taken:
        hint = "give it a name of its own; a usual rule is left out with without = […]"
        raise table.error(f"there is a rule {name!r} already", "name", hint=hint)
    replacement = table.text("replace")
    dialect = table.choice("dialect", "", _DIALECTS)
    rule = Scrub(
        name=name,
        source=read_pattern(table),
        replace=replacement,
        reason=read_reason(table),
        dialects=frozenset({dialect} if dialect else ()),
        place=table.where("pattern"),
    )
    _require_fitting(rule, table)
    table.done()
    return rule


def _require_fitting(rule: Scrub, table: Reader) -> None:
    """Refuse a replacement that can not be put in."""
    try:
        rule.pattern.sub(rule.replace, "")
    except (re.error, IndexError) as error:
        hint = r"\1 stands for the first group; a backslash is written \\"
        problem = f"{rule.replace!r} can not be put in: {error}"
        raise table.error(problem, "replace", hint=hint) from error


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known rules: {', '.join(names)}"

"""What differs between two runs of one agent and says nothing to the model: the scrub table.

Each rule replaces one kind of volatile text by a fixed label, on both sides of a match. A rule
is narrow: it names the words around the text, since a bare date or number may be task data.
The best cure is a sandbox with fixed paths, names and dates; then these rules have little to do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrub:
    """One rule: what ``source`` finds in a text becomes ``replace`` (which may name groups).

    ``literals`` is a cheap test: without one of them in the text nothing is searched; empty for
    a rule that always is. ``dialects`` empty is any. ``usual`` is False for a rule that a
    project must ask for by name. ``place`` is where a project wrote a rule of its own (file, line
    and key), empty for those of the table.
    """

    name: str
    source: str
    replace: str
    reason: str
    literals: tuple[str, ...] = ()
    dialects: frozenset[str] = field(default_factory=frozenset)
    usual: bool = True
    place: str = field(default="", compare=False)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The expression; made when it is first asked for, since most commands scrub nothing."""
        return _compiled(self.source)

    @property
    def needles(self) -> tuple[bytes, ...]:
        """The literals as they stand in JSON text."""
        return tuple(literal.encode() for literal in self.literals)


@lru_cache(maxsize=256)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _scrub(
    name: str, literals: Sequence[str], pattern: str, replace: str, reason: str, dialect: str = ""
) -> Scrub:
    return Scrub(
        name=name,
        literals=tuple(literals),
        source=pattern,
        replace=replace,
        reason=reason,
        dialects=frozenset({dialect} if dialect else ()),
        usual=name != "uuid",
    )


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_DATE = rf"(?:\d{{4}}-\d\d-\d\d|(?:{_DAY},? )?{_MONTH} \d{{1,2}},? \d{{4}})"

#: A pattern is fast when it begins with its literal; so what stands before is looked for after.
_WORDS = ("passed", "failed", "error", "errors", "skipped", "deselected", "warning", "warnings")
_SAID = "|".join(f"(?<={word} in )" for word in (*_WORDS, "test", "tests", "ran"))
_SAID_IN = rf" in (?=\d)(?:{_SAID})"

#: Applied in this order.
SCRUBS: tuple[Scrub, ...] = (
    _scrub(
        "date",
        ("oday's date", "urrent date", "urrent_date", "Date: "),
        rf"([Tt]oday's date(?: is|:) |[Cc]urrent date(?: is|:) |<current_date>|\bDate: ){_DATE}",
        r"\1<DATE>",
        "agents tell the model what day it is",
    ),
    _scrub(
        "timezone",
        ("<timezone>",),
        r"<timezone>[^<\n]{0,60}</timezone>",
        "<timezone><ZONE></timezone>",
        "Codex names the zone of the machine",
        "openai-responses",
    ),
    _scrub(
        "kernel",
        ("OS Version: ", "Platform: Linux-", "<system_information>"),
        r"(OS Version: |Platform: Linux-|<system_information>\s*)[^\n<]+",
        r"\1<KERNEL>",
        "a container shows the kernel of its host",
    ),
    _scrub(
        "billing-header",
        ("cc_version=", "cch="),
        r"(cc_version=\d+\.\d+\.\d+)\.[0-9a-f]+|(cch=)[0-9a-f]+",
        r"\1\2",
        "Claude Code counts the prompt into its version",
        "anthropic",
    ),
    _scrub(
        "process-group",
        ("Process Group PGID: ",),
        r"Process Group PGID: \d+",
        "Process Group PGID: <N>",
        "Gemini CLI and Qwen Code put a process id into tool results",
    ),
    _scrub(
        "chunk-id",
        ("Chunk ID: ", "Wall time: ", "Original token count: "),
        r"(Chunk ID: )[0-9a-f]+|(Wall time: )[\d.]+( seconds)?|(Original token count: )\d+",
        r"\1\2\4<N>\3",
        "Codex numbers, times and measures its tools' outputs, which hold paths of any length",
        "openai-responses",
    ),
    _scrub(
        "call-clock",
        ("_1",),
        r"\b([a-zA-Z_]+)_\d{13}_\d+\b",
        r"\1_<ID>",
        "Gemini CLI makes call ids from the clock",
        "gemini",
    ),
    _scrub(
        "test-times",
        tuple(f"{word} in " for word in (*_WORDS, "test", "tests", "ran")),
        _SAID_IN + r"\d+\.\d+s(?: \(\d+:\d\d:\d\d\))?",
        " in <SECONDS>",
        "test runners say how long they took",
    ),
    _scrub(
        "test-durations",
        ("duration_ms",),
        r"duration_ms(:? )\d+(?:\.\d+)?",
        r"duration_ms\1<MILLISECONDS>",
        "Node's test runner says how long each test took",
    ),
    _scrub(
        "address",
        (" at 0x",),
        r" at 0x[0-9a-f]{6,16}\b",
        " at 0x<ADDRESS>",
        "Python shows where an object lies in memory",
    ),
    _scrub(
        "uuid",
        ("-",),
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "<UUID>",
        "sessions have random ids; not usual, since a task may be about one",
    ),
)


PLACES_HIT: Final = "places"
SECRETS_HIT: Final = "secrets"

#: What is counted beside the rules of the table, and why it is replaced; no rule has such a name.
BESIDE: Final[Mapping[str, str]] = {
    PLACES_HIT: "the run's own paths differ from run to run",
    SECRETS_HIT: "a cassette holds no key",
}


def rules_of(rules: Iterable[Scrub], dialect: str) -> list[tuple[Scrub, tuple[bytes, ...]]]:
    """Return the rules of a dialect, each with its needles."""
    spoken = (rule for rule in rules if not rule.dialects or dialect in rule.dialects)
    return [(rule, rule.needles) for rule in spoken]


def usual_scrubs(
    *,
    without: Iterable[str] = (),
    also: Iterable[str] = (),
    own: Iterable[Scrub] = (),
) -> tuple[Scrub, ...]:
    """Return the table as a project wants it: rules left out, unusual ones, its own last."""
    left, asked = set(without), set(also)
    kept = [rule for rule in SCRUBS if rule.name not in left and (rule.usual or rule.name in asked)]
    return (*kept, *own)


def scrubs_digest(rules: Iterable[Scrub]) -> str:
    """Return a digest (12 hex) of what the rules do: equal rules give equal keys."""
    said = "\0".join(
        f"{rule.name}\1{rule.source}\1{rule.replace}\1{'|'.join(sorted(rule.dialects))}"
        for rule in rules
    )
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:12]

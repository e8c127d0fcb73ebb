"""One thing that is looked at, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from evalgate.commands.doctor.facts import Facts
from evalgate.core.json import Json
from evalgate.errors import ExitCode


class Health(StrEnum):
    """How something is: ``advice`` could be better, ``wrong`` must be mended."""

    GOOD = "good"
    ADVICE = "advice"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found; ``fix`` is a command, or a line to write, where something is to be done."""

    health: Health
    words: str
    fix: str = ""
    code: ExitCode = ExitCode.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A line of the checklist."""

    name: str
    what: str
    look: Callable[[Facts], Finding]


def good(words: str) -> Finding:
    """Return that all is well."""
    return Finding(health=Health.GOOD, words=words)


def advice(words: str, fix: str) -> Finding:
    """Return what could be better."""
    return Finding(health=Health.ADVICE, words=words, fix=fix)


def wrong(words: str, fix: str, *, code: ExitCode = ExitCode.USAGE) -> Finding:
    """Return what must be mended."""
    return Finding(health=Health.WRONG, words=words, fix=fix, code=code)


def to_json(audit: Audit, finding: Finding) -> dict[str, Json]:
    """Return the JSON form of a line."""
    return {
        "audit": audit.name,
        "health": str(finding.health),
        "found": finding.words,
        "fix": finding.fix,
    }

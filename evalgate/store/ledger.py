"""Entries of the ledger: TOML text and values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalgate.core.files import Tree
from evalgate.core.identity import FORMAT
from evalgate.core.json import Json
from evalgate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One experiment: which harness, what was decided and why, and how many trials passed.

    ``hypothesis`` is what was hoped for, ``changed`` names the parts that differ from the harness
    before; ``read`` says who had read how many of its trials.
    """

    date: str
    fingerprint: str
    decision: str
    reason: str
    evidence: str
    passed: int
    measured: int
    parts: Mapping[str, str]
    hypothesis: str = ""
    changed: tuple[str, ...] = ()
    read: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "date": self.date,
            "fingerprint": self.fingerprint,
            "decision": self.decision,
            "reason": self.reason,
            "evidence": self.evidence,
            "passed": self.passed,
            "measured": self.measured,
            "parts": dict(self.parts),
            "hypothesis": self.hypothesis,
            "changed": list(self.changed),
            "read": dict(self.read),
        }


def load_ledger(files: Tree) -> tuple[Entry, ...]:
    """Read the entries among files below ``baselines/ledger/``, oldest first.

    Raises:
        UsageError: one is newer than this evalgate, or is none.
    """
    entries, problems = read_ledger(files)
    if problems:
        raise problems[0]
    return entries


def read_ledger(files: Tree) -> tuple[tuple[Entry, ...], tuple[UsageError, ...]]:
    """Read the entries that can be read, oldest first, and say what is wrong with the others."""
    found, problems = [], []
    for path, file in sorted(files.items()):
        if path.endswith(".toml"):
            try:
                found.append(_load(file.data, path))
            except UsageError as error:
                problems.append(error)
    return tuple(sorted(found, key=lambda one: one.date)), tuple(problems)


def _load(data: bytes, path: str) -> Entry:
    name = f"baselines/ledger/{path}"
    try:
        value: Mapping[str, Any] = tomllib.loads(data.decode())
        if int(value["format"]) > FORMAT:
            message = f"{name}: format {value['format']} is newer than this evalgate knows"
            raise UsageError(message, hint="upgrade git-evalgate")
        return Entry(
            date=str(value["date"]),
            fingerprint=str(value["fingerprint"]),
            decision=str(value["decision"]),
            reason=str(value.get("reason", "")),
            evidence=str(value["evidence"]),
            passed=sum(int(one) for one in value["passed"].values()),
            measured=sum(int(one) for one in value["measured"].values()),
            parts={str(part): str(one) for part, one in value["parts"].items()},
            hypothesis=str(value.get("hypothesis", "")),
            changed=tuple(map(str, value.get("changed", ()))),
            read={str(who): int(number) for who, number in value.get("read", {}).items()},
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"{name}: this is no ledger entry: {error!r}"
        raise UsageError(message, hint="restore it from git") from error
